import { Stack, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { graphql } from '../api/graphql.ts'
import { useChange } from '../api/use-api.ts'
import { FormAlert } from '../ui/form-alert.tsx'
import { FormActions } from './form-actions.tsx'
import { fieldsOf, ontoFields, required } from './onto-fields.ts'
import { useUnsaved } from './unsaved.ts'

const CREATE = graphql(`
  mutation CreateApiKey($appId: String!, $name: String!) {
    createApiKey(appId: $appId, name: $name) { id name prefix secret formerExpiresAt }
  }
`)

interface NewKeyFormProps {
  appId: string
  onDone: (key: { name: string; secret: string; formerExpiresAt: string | null }) => void
  onCancel: () => void
}

export function NewKeyForm({ appId, onDone, onCancel }: NewKeyFormProps) {
  const form = useForm({ initialValues: { name: '' }, validate: { name: required('The name') } })
  const { saved } = useUnsaved(form)
  const create = useChange(CREATE, {
    done: saved(({ createApiKey }) => {
      if (createApiKey) onDone(createApiKey)
    }),
  })
  return (
    <form noValidate onSubmit={form.onSubmit(({ name }) => create.mutate({ appId, name }, ontoFields(form)))}>
      <Stack>
        <FormAlert error={create.error} fields={fieldsOf(form)} />
        <TextInput
          label="Name"
          description="Where the key is used, so you know what stops when you revoke it"
          placeholder="Production backend"
          data-autofocus
          {...form.getInputProps('name')}
        />
        <FormActions submit="Create key" busy={create.isPending} onCancel={onCancel} />
      </Stack>
    </form>
  )
}
