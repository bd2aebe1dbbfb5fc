import { Button, Group, Radio, Stack, Text } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { useState } from 'react'
import { graphql } from '../api/graphql.ts'
import { useMay } from '../api/use-account.ts'
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
  appId: string
  subscription: {
    id: string
    userId: string
    userName: string | null
    package: { name: string; isAddon: boolean }
  }
}

export function CancelSubscription({ appId, subscription }: CancelSubscriptionProps) {
  const [opened, { open, close }] = useDisclosure()
  const [when, setWhen] = useState('end')
  const may = useMay()
  const { userId, userName, package: p } = subscription
  const keep = useChange(KEEP, { said: 'The subscription continues.' })
  const cancel = useChange(CANCEL, {
    done: close,
    said: ({ cancelSubscription: made }) =>
      made?.cancelAt ? `It ends on ${dateTimeOf(made.cancelAt)}.` : 'Subscription cancelled.',
    // One that has ended is never revived.
    undo: ({ cancelSubscription: made }, { appId, id }) =>
      made?.cancelAt ? () => keep.mutate({ appId, id }) : undefined,
  })
  const addons = useAsk(ADDONS, { appId, userId }, { enabled: opened && !p.isAddon })
  const ending = (addons.data?.subscriptions?.rows ?? []).filter(
    (s) => s.status === 'ACTIVE' && s.package.isAddon,
  )
  return (
    <>
      <Button
        size="compact-sm"
        variant="default"
        onClick={open}
        disabled={!may('cancelSubscription')}
        aria-label={`Cancel ${p.name} of ${userId}`}
      >
        Cancel
      </Button>
      <Dialog opened={opened} onClose={close} title={`Cancel ${p.name} of ${userName ?? userId}`} ta="left">
        <Stack>
          <FormAlert error={cancel.error ?? addons.error} />
          <Radio.Group label="When does it end?" value={when} onChange={setWhen}>
            <Stack gap="xs" mt="xs">
              <Radio
                value="end"
                label="At the end of the period"
                description="They keep what they paid for until then"
              />
              <Radio value="now" label="Now" description="Access ends immediately" />
            </Stack>
          </Radio.Group>
          {!p.isAddon && addons.data && (
            <Text size="sm">
              {ending.length === 0
                ? 'The user has no add-ons that would end with it.'
                : `${units(ending.length, 'add-on ends', 'add-ons end')} with it: ${ending.map((s) => s.package.name).join(', ')}.`}
            </Text>
          )}
          <Text size="sm" c="dimmed">
            {when === 'end'
              ? 'Until then you can take it back.'
              : 'This cannot be undone: the user would have to subscribe again.'}
          </Text>
          <Group justify="flex-end" gap="xs">
            <Button variant="default" onClick={close}>
              Keep it
            </Button>
            <Button
              color="red.9"
              loading={cancel.isPending}
              onClick={() => cancel.mutate({ appId, id: subscription.id, atPeriodEnd: when === 'end' })}
            >
              Cancel the subscription
            </Button>
          </Group>
        </Stack>
      </Dialog>
    </>
  )
}
