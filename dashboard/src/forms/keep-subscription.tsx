import { Button, Group, Stack, Text } from '@mantine/core'
import { graphql } from '../api/graphql.ts'
import { useChange } from '../api/use-api.ts'
import { Dialog } from '../ui/dialog.tsx'
import { FormAlert } from '../ui/form-alert.tsx'
import { providerName } from '../ui/price.ts'
import { When } from '../ui/when.tsx'

const KEEP = graphql(`
  mutation KeepSubscription($appId: String!, $id: String!) {
    keepSubscription(appId: $appId, id: $id) { id cancelAt }
  }
`)

interface KeepSubscriptionProps {
  opened: boolean
  onClose: () => void
  appId: string
  subscription: {
    id: string
    userId: string
    userName: string | null
    package: { name: string; isAddon: boolean }
    billing: { provider: string } | null
  }
  /** when it would end */
  cancelAt: string
}

/** Reverts a scheduled cancellation. */
export function KeepSubscription({ opened, onClose, appId, subscription, cancelAt }: KeepSubscriptionProps) {
  const { userId, userName, package: p, billing } = subscription
  const keep = useChange(KEEP, { done: onClose, said: `${userName ?? userId} keeps ${p.name}.` })
  return (
    <Dialog opened={opened} onClose={onClose} title={`Keep ${p.name} of ${userName ?? userId}`} ta="left">
      <Stack>
        <FormAlert error={keep.error} />
        <Text size="sm">
          It no longer ends on <When at={cancelAt} />.
          {billing ? ` ${providerName(billing.provider)} continues to charge for it.` : ''}
        </Text>
        {!p.isAddon && (
          <Text size="sm">Add-ons that would end with it are kept too, except those billed separately.</Text>
        )}
        <Group justify="flex-end" gap="xs">
          <Button variant="default" onClick={onClose}>
            Cancel
          </Button>
          <Button loading={keep.isPending} onClick={() => keep.mutate({ appId, id: subscription.id })}>
            Keep subscription
          </Button>
        </Group>
      </Stack>
    </Dialog>
  )
}
