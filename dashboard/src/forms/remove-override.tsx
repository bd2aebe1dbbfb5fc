import { Button, Stack, Text } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { graphql, type VariablesOf } from '../api/graphql.ts'
import { useMay } from '../api/use-account.ts'
import { useChange } from '../api/use-api.ts'
import { Dialog } from '../ui/dialog.tsx'
import { FormAlert } from '../ui/form-alert.tsx'
import { FormActions } from './form-actions.tsx'

const REMOVE = graphql(`
  mutation RemoveOverride($appId: String!, $userId: String!, $featureId: String!) {
    removeOverride(appId: $appId, userId: $userId, featureId: $featureId) { mode }
  }
`)

const RESTORE = graphql(`
  mutation RestoreOverride($appId: String!, $input: OverrideInput!) {
    setOverride(appId: $appId, input: $input) { mode }
  }
`)

interface RemoveOverrideProps {
  appId: string
  userId: string
  override: Omit<VariablesOf<typeof RESTORE>['input'], 'userId'>
  /** of the feature */
  name: string
}

export function RemoveOverride({ appId, userId, override, name }: RemoveOverrideProps) {
  const [opened, { open, close }] = useDisclosure()
  const may = useMay()
  const restore = useChange(RESTORE, { said: `Override of ${name} restored.` })
  const remove = useChange(REMOVE, {
    done: close,
    said: `Override of ${name} removed. The limits of the plan apply again.`,
    undo: () => () => restore.mutate({ appId, input: { ...override, userId } }),
  })
  return (
    <>
      <Button
        size="compact-sm"
        variant="default"
        onClick={open}
        disabled={!may('removeOverride')}
        aria-label={`Remove the override of ${name}`}
      >
        Remove
      </Button>
      <Dialog opened={opened} onClose={close} title={`Remove the override of ${name}`} ta="left">
        <form
          noValidate
          onSubmit={(event) => {
            event.preventDefault()
            remove.mutate({ appId, userId, featureId: override.featureId })
          }}
        >
          <Stack>
            <FormAlert error={remove.error} />
            <Text size="sm">
              The limits of the user's packages apply immediately. Recorded usage is kept.
            </Text>
            <FormActions submit="Remove the override" danger busy={remove.isPending} onCancel={close} />
          </Stack>
        </form>
      </Dialog>
    </>
  )
}
