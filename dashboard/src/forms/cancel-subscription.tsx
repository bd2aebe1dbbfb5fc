import { Button, Group, Radio, Stack, Text } from '@mantine/core'
import { useState } from 'react'
import { graphql } from '../api/graphql.ts'
import { useAsk, useChange } from '../api/use-api.ts'
import { Dialog } from '../ui/dialog.tsx'
import { FormAlert } from '../ui/form-alert.tsx'
import { units } from '../ui/number.ts'
import { dateTimeOf } from '../ui/when.tsx'

const CANCEL = graphql(`
  mutation CancelSubscription($appId: String!, $id: String!, $atPeriodEnd: Boolean!) {
    cancelSubscription(appId: $appId, id: $id, atPeriodEnd: $atPeriodEnd) { id status cancelAt }
  }
`)

const KEEP = graphql(`
  mutation UndoCancellation($appId: String!, $id: String!) {
    keepSubscription(appId: $appId, id: $id) { id }
  }
`)
const ADDONS = graphql(`
  query EndingAddons($appId: String!, $userId: String!) {
    subscriptions(appId: $appId, userId: $userId) { rows { status package { name isAddon } } }
  }
`)

interface CancelSubscriptionProps {
  opened: boolean
  onClose: () => void
  appId: string
  subscription: {
    id: string
    userId: string
    userName: string | null
    package: { name: string; isAddon: boolean }
  }
}

export function CancelSubscription({ opened, onClose, appId, subscription }: CancelSubscriptionProps) {
  const [when, setWhen] = useState('end')
  const { userId, userName, package: p } = subscription
  const keep = useChange(KEEP, { said: `${userName ?? userId} keeps ${p.name}.` })
  const cancel = useChange(CANCEL, {
    done: onClose,
    said: ({ cancelSubscription: made }) =>
      made?.cancelAt
        ? `${p.name} of ${userName ?? userId} ends on ${dateTimeOf(made.cancelAt)}.`
        : `${p.name} of ${userName ?? userId} cancelled.`,
    // One that has ended is never revived.
    undo: ({ cancelSubscription: made }, { appId, id }) =>
      made?.cancelAt ? () => keep.mutate({ appId, id }) : undefined,
  })
  const addons = useAsk(ADDONS, { appId, userId }, { enabled: opened && !p.isAddon })
  const ending = (addons.data?.subscriptions?.rows ?? []).filter(
    (s) => s.status === 'ACTIVE' && s.package.isAddon,
  )
  return (
    <Dialog opened={opened} onClose={onClose} title={`Cancel ${p.name} of ${userName ?? userId}?`} ta="left">
      <Stack>
        <FormAlert error={cancel.error ?? addons.error} />
        <Radio.Group label="When does it end?" value={when} onChange={setWhen}>
          <Stack gap="xs" mt="xs">
            <Radio
              value="end"
              label="At the end of the period"
              description="The user keeps access until then"
            />
            <Radio value="now" label="Now" description="Access ends immediately" />
          </Stack>
        </Radio.Group>
        {!p.isAddon && addons.data && (
          <Text size="sm">
            {ending.length === 0
              ? 'The user has no add-ons.'
              : `${units(ending.length, 'add-on ends', 'add-ons end')} with it: ${ending.map((s) => s.package.name).join(', ')}.`}
          </Text>
        )}
        <Text size="sm" c="dimmed">
          {when === 'end' ? 'You can undo this until then.' : 'This cannot be undone.'}
        </Text>
        <Group justify="flex-end" gap="xs">
          <Button variant="default" onClick={onClose}>
            Cancel
          </Button>
          <Button
            color="red.9"
            loading={cancel.isPending}
            onClick={() => cancel.mutate({ appId, id: subscription.id, atPeriodEnd: when === 'end' })}
          >
            {when === 'end' ? 'Cancel at period end' : 'Cancel now'}
          </Button>
        </Group>
      </Stack>
    </Dialog>
  )
}
