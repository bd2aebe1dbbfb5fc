import { Stack, Switch, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { graphql } from '../api/graphql.ts'
import { useChange } from '../api/use-api.ts'
import { FormAlert } from '../ui/form-alert.tsx'
import { FormActions } from './form-actions.tsx'
import { fieldsOf, idFrom, idProblem, ontoFields, required } from './onto-fields.ts'

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
  const create = useChange(CREATE, { done: onDone, said: 'The app is there. Make an API key for it next.' })
  const name = form.getInputProps('name')
  return (
    <form noValidate onSubmit={form.onSubmit((values) => create.mutate(values, ontoFields(form)))}>
      <Stack>
        <FormAlert error={create.error} fields={fieldsOf(form)} />
        <TextInput
          label="Name"
          placeholder="Staging"
          data-autofocus
          {...name}
          onChange={(event) => {
            const follows = form.values.id === idFrom(form.values.name)
            name.onChange(event)
            if (follows) form.setFieldValue('id', idFrom(event.currentTarget.value))
          }}
        />
        <TextInput label="Id" description="It cannot be changed" {...form.getInputProps('id')} />
        <Switch
          label="Test clock"
          description="The app gets a time of its own, which you move forward to see renewals and ends"
          {...form.getInputProps('testClock', { type: 'checkbox' })}
        />
        <FormActions submit="Create app" busy={create.isPending} onCancel={onDone} />
      </Stack>
    </form>
  )
}
