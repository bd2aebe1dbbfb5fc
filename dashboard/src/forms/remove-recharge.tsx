import { Button, Stack, Text } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { graphql } from '../api/graphql.ts'
import { useMay } from '../api/use-account.ts'
import { useChange } from '../api/use-api.ts'
import { Dialog } from '../ui/dialog.tsx'
import { FormAlert } from '../ui/form-alert.tsx'
import { FormActions } from './form-actions.tsx'

const REMOVE = graphql(`
  mutation RemoveAutoRecharge($appId: String!, $userId: String!, $featureId: String!) {
    removeAutoRecharge(appId: $appId, userId: $userId, featureId: $featureId) { featureId }
  }
`)

interface RemoveRechargeProps {
  appId: string
  userId: string
  recharge: { featureId: string; state: string }
  /** of the feature */
  name: string
}

export function RemoveRecharge({ appId, userId, recharge, name }: RemoveRechargeProps) {
  const [opened, { open, close }] = useDisclosure()
  const may = useMay()
  // To undo it could charge at once.
  const remove = useChange(REMOVE, { done: close, said: 'Automatic recharge removed.' })
  return (
    <>
      <Button
        size="compact-sm"
        variant="default"
        onClick={open}
        disabled={!may('removeAutoRecharge')}
        aria-label={`Remove the automatic recharge of ${name}`}
      >
        Remove
      </Button>
      <Dialog opened={opened} onClose={close} title={`Remove the automatic recharge of ${name}`} ta="left">
        <form
          noValidate
          onSubmit={(event) => {
            event.preventDefault()
            remove.mutate({ appId, userId, featureId: recharge.featureId })
          }}
        >
          <Stack>
            <FormAlert error={remove.error} />
            <Text size="sm">
              No more credits are bought automatically.{' '}
              {recharge.state === 'CHARGING'
                ? 'The charge in progress is completed, and its credit is added.'
                : 'Credits that were bought stay.'}
            </Text>
            <FormActions submit="Remove the recharge" danger busy={remove.isPending} onCancel={close} />
          </Stack>
        </form>
      </Dialog>
    </>
  )
}
