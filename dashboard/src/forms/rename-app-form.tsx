import { Stack, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { graphql } from '../api/graphql.ts'
import { useChange } from '../api/use-api.ts'
import { FormAlert } from '../ui/form-alert.tsx'
import { FormActions } from './form-actions.tsx'
import { fieldsOf, ontoFields, required } from './onto-fields.ts'
import { useUnsaved } from './unsaved.ts'

const RENAME = graphql(`
  mutation RenameApp($appId: String!, $name: String!) {
    renameApp(appId: $appId, name: $name) { id }
  }
`)

export function RenameAppForm({ app, onDone }: { app: { id: string; name: string }; onDone: () => void }) {
  const form = useForm({ initialValues: { name: app.name }, validate: { name: required('The name') } })
  const { saved } = useUnsaved(form)
  const rename = useChange(RENAME, { done: saved(onDone), said: (_, { name }) => `App renamed to ${name}.` })
  return (
    <form
      noValidate
      onSubmit={form.onSubmit(({ name }) => rename.mutate({ appId: app.id, name }, ontoFields(form)))}
    >
      <Stack>
        <FormAlert error={rename.error} fields={fieldsOf(form)} />
        <TextInput label="Name" data-autofocus {...form.getInputProps('name')} />
        <FormActions submit="Save" busy={rename.isPending} onCancel={onDone} />
      </Stack>
    </form>
  )
}
