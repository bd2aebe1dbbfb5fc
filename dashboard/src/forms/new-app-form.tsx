import { Stack, Switch, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { graphql } from '../api/graphql.ts'
import { useChange } from '../api/use-api.ts'
import { FormAlert } from '../ui/form-alert.tsx'
import { FormActions } from './form-actions.tsx'
import { NameInput } from './name-input.tsx'
import { fieldsOf, idProblem, ontoFields, required } from './onto-fields.ts'
import { useUnsaved } from './unsaved.ts'

const CREATE = graphql(`
  mutation CreateApp($id: String!, $name: String!, $testClock: Boolean!) {
    createApp(id: $id, name: $name, testClock: $testClock) { id }
  }
`)

export function NewAppForm({ onDone }: { onDone: () => void }) {
  const form = useForm({
    initialValues: { name: '', id: '', testClock: false },
    validate: { name: required('The name'), id: idProblem },
  })
  const { saved } = useUnsaved(form)
  const create = useChange(CREATE, {
    done: saved(onDone),
    said: (_, { name }) => `${name} created.`,
    next: { label: 'Create an API key', to: { to: '/apps/$app/keys', params: { app: form.values.id } } },
  })
  return (
    <form noValidate onSubmit={form.onSubmit((values) => create.mutate(values, ontoFields(form)))}>
      <Stack>
        <FormAlert error={create.error} fields={fieldsOf(form)} />
        <NameInput form={form} placeholder="Staging" />
        <TextInput label="Id" description="It cannot be changed later" {...form.getInputProps('id')} />
        <Switch
          label="Test clock"
          description="The app runs on its own clock, which you move forward to test renewals and expiry"
          {...form.getInputProps('testClock', { type: 'checkbox' })}
        />
        <FormActions submit="Create app" busy={create.isPending} onCancel={onDone} />
      </Stack>
    </form>
  )
}
