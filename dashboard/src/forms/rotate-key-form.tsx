import { Select, Stack, Text } from '@mantine/core'
import { useForm } from '@mantine/form'
import { graphql, type ResultOf } from '../api/graphql.ts'
import { useChange } from '../api/use-api.ts'
import { FormAlert } from '../ui/form-alert.tsx'
import { FormActions } from './form-actions.tsx'
import { useUnsaved } from './unsaved.ts'

const ROTATE = graphql(`
  mutation RotateApiKey($appId: String!, $id: String!, $overlapHours: Int!) {
    rotateApiKey(appId: $appId, id: $id, overlapHours: $overlapHours) { name scope secret expiresAt formerExpiresAt }
  }
`)

const OVERLAPS = [
  { value: '0', label: 'It stops immediately' },
  { value: '1', label: '1 hour' },
  { value: '24', label: '1 day' },
  { value: '168', label: '1 week' },
  { value: '720', label: '30 days' },
]

interface RotateKeyFormProps {
  appId: string
  apiKey: { id: string; name: string }
  onDone: (key: NonNullable<ResultOf<typeof ROTATE>['rotateApiKey']>) => void
  onCancel: () => void
}

export function RotateKeyForm({ appId, apiKey, onDone, onCancel }: RotateKeyFormProps) {
  const form = useForm({ initialValues: { overlap: '24' } })
  const { saved } = useUnsaved(form)
  const rotate = useChange(ROTATE, {
    done: saved(({ rotateApiKey }) => rotateApiKey && onDone(rotateApiKey)),
  })
  const save = form.onSubmit(({ overlap }) =>
    rotate.mutate({ appId, id: apiKey.id, overlapHours: Number(overlap) }),
  )
  return (
    <form onSubmit={save}>
      <Stack>
        <FormAlert error={rotate.error} />
        <Text size="sm">
          “{apiKey.name}” gets a new secret with the same scope and, if it expires, the same lifetime. Both
          work during the overlap, so nothing breaks while you deploy it.
        </Text>
        <Select
          label="How long the old secret keeps working"
          data={OVERLAPS}
          allowDeselect={false}
          data-autofocus
          {...form.getInputProps('overlap')}
        />
        <FormActions submit="Rotate" busy={rotate.isPending} onCancel={onCancel} />
      </Stack>
    </form>
  )
}
