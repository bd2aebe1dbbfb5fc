import { Button, Group, Stack, Text } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { graphql } from '../api/graphql.ts'
import { useMay } from '../api/use-account.ts'
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

/** Takes a scheduled end back. */
export function KeepSubscription({ appId, subscription, cancelAt }: KeepSubscriptionProps) {
  const [opened, { open, close }] = useDisclosure()
  const may = useMay()
  const keep = useChange(KEEP, { done: close, said: 'The subscription continues.' })
  const { userId, userName, package: p, billing } = subscription
  return (
    <>
      <Button
        size="compact-sm"
        variant="default"
        onClick={open}
        disabled={!may('keepSubscription')}
        aria-label={`Keep ${p.name} of ${userId}`}
      >
        Keep
      </Button>
      <Dialog opened={opened} onClose={close} title={`Keep ${p.name} of ${userName ?? userId}`} ta="left">
        <Stack>
          <FormAlert error={keep.error} />
          <Text size="sm">
            It will not end on <When at={cancelAt} /> and continues as before
            {billing ? `, and ${providerName(billing.provider)} keeps charging for it` : ''}.
          </Text>
          {!p.isAddon && (
            <Text size="sm">
              Add-ons that would have ended with it continue too, except those paid for separately.
            </Text>
          )}
          <Group justify="flex-end" gap="xs">
            <Button variant="default" onClick={close}>
              Let it end
            </Button>
            <Button loading={keep.isPending} onClick={() => keep.mutate({ appId, id: subscription.id })}>
              Keep the subscription
            </Button>
          </Group>
        </Stack>
      </Dialog>
    </>
  )
}
