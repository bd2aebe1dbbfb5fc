import { Stack } from '@mantine/core'
import { useForm } from '@mantine/form'
import { graphql } from '../api/graphql.ts'
import { useChange } from '../api/use-api.ts'
import type { Scope } from '../key-scopes.ts'
import { FormAlert } from '../ui/form-alert.tsx'
import { FormActions } from './form-actions.tsx'
import { KeyFields, keyForm, keyInput } from './key-fields.tsx'
import { fieldsOf, ontoFields } from './onto-fields.ts'
import { useUnsaved } from './unsaved.ts'

const UPDATE = graphql(`
  mutation UpdateApiKey($appId: String!, $id: String!, $input: UpdateApiKeyInput!) {
    updateApiKey(appId: $appId, id: $id, input: $input) { id }
  }
`)

interface EditKeyFormProps {
  appId: string
  apiKey: { id: string; name: string; scope: Scope; expiresAt: string | null }
  onDone: () => void
}

export function EditKeyForm({ appId, apiKey, onDone }: EditKeyFormProps) {
  const form = useForm(keyForm(apiKey))
  const { saved } = useUnsaved(form)
  const update = useChange(UPDATE, {
    done: saved(onDone),
    said: (_, { input }) => `${input.name ?? apiKey.name} saved. The change applies immediately.`,
  })
  const save = form.onSubmit((values) => {
    const { name, scope, expiresAt } = keyInput(values, apiKey.expiresAt)
    // An expiry that is sent again would count as set again, for the lifetime of a rotated key.
    const input = { name, scope, ...(expiresAt !== apiKey.expiresAt && { expiresAt }) }
    update.mutate({ appId, id: apiKey.id, input }, ontoFields(form))
  })
  return (
    <form noValidate onSubmit={save}>
      <Stack>
        <FormAlert error={update.error} fields={fieldsOf(form)} />
        <KeyFields form={form} />
        <FormActions submit="Save" busy={update.isPending} onCancel={onDone} />
      </Stack>
    </form>
  )
}
