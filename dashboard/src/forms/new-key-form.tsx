import { Stack } from '@mantine/core'
import { useForm } from '@mantine/form'
import { graphql, type ResultOf } from '../api/graphql.ts'
import { useChange } from '../api/use-api.ts'
import { FormAlert } from '../ui/form-alert.tsx'
import { FormActions } from './form-actions.tsx'
import { KeyFields, keyForm, keyInput, NEW_KEY } from './key-fields.tsx'
import { fieldsOf, ontoFields } from './onto-fields.ts'
import { useUnsaved } from './unsaved.ts'

const CREATE = graphql(`
  mutation CreateApiKey($appId: String!, $name: String!, $scope: ApiKeyScope!, $expiresAt: String) {
    createApiKey(appId: $appId, name: $name, scope: $scope, expiresAt: $expiresAt) {
      name scope secret expiresAt formerExpiresAt
    }
  }
`)

interface NewKeyFormProps {
  appId: string
  onDone: (key: NonNullable<ResultOf<typeof CREATE>['createApiKey']>) => void
  onCancel: () => void
}

export function NewKeyForm({ appId, onDone, onCancel }: NewKeyFormProps) {
  const form = useForm(keyForm(NEW_KEY))
  const { saved } = useUnsaved(form)
  const create = useChange(CREATE, {
    done: saved(({ createApiKey }) => {
      if (createApiKey) onDone(createApiKey)
    }),
  })
  const save = form.onSubmit((values) =>
    create.mutate({ appId, ...keyInput(values, null) }, ontoFields(form)),
  )
  return (
    <form noValidate onSubmit={save}>
      <Stack>
        <FormAlert error={create.error} fields={fieldsOf(form)} />
        <KeyFields form={form} />
        <FormActions submit="Create key" busy={create.isPending} onCancel={onCancel} />
      </Stack>
    </form>
  )
}
