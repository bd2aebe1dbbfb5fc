import { Button, Group, Stack, Text } from '@mantine/core'
import { graphql } from '../api/graphql.ts'
import { useChange } from '../api/use-api.ts'
import { Dialog } from '../ui/dialog.tsx'
import { FormAlert } from '../ui/form-alert.tsx'
import { providerName } from '../ui/price.ts'
import { dateTimeOf, When } from '../ui/when.tsx'

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
    billing: { provider: string; status: string } | null
  }
  /** when it would end */
  cancelAt: string
}

/** Reverts a scheduled cancellation. */
export function KeepSubscription({ opened, onClose, appId, subscription, cancelAt }: KeepSubscriptionProps) {
  const { userId, userName, package: p, billing } = subscription
  const user = userName ?? userId
  const isPastDue = billing?.status === 'past_due'
  const keep = useChange(KEEP, {
    done: onClose,
    said: ({ keepSubscription: kept }) =>
      kept?.cancelAt
        ? `${p.name} of ${user} ends on ${dateTimeOf(kept.cancelAt)} unless the payment succeeds.`
        : `${user} keeps ${p.name}.`,
  })
  return (
    <Dialog opened={opened} onClose={onClose} title={`Keep ${p.name} of ${user}`} ta="left">
      <Stack>
        <FormAlert error={keep.error} />
        {isPastDue ? (
          <Text size="sm">
            A payment failed. The subscription ends on <When at={cancelAt} /> unless the payment succeeds. If
            it was also cancelled, {providerName(billing.provider)} continues to charge for it.
          </Text>
        ) : (
          <Text size="sm">
            It no longer ends on <When at={cancelAt} />.
            {billing ? ` ${providerName(billing.provider)} continues to charge for it.` : ''}
          </Text>
        )}
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
