import { Button, Group, Modal, Radio, Stack, Text } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { useState } from 'react'
import { graphql } from '../api/graphql.ts'
import { useMay } from '../api/use-account.ts'
import { useChange } from '../api/use-api.ts'
import { FormAlert } from '../ui/form-alert.tsx'

const CANCEL = graphql(`
  mutation CancelSubscription($appId: String!, $id: String!, $atPeriodEnd: Boolean!) {
    cancelSubscription(appId: $appId, id: $id, atPeriodEnd: $atPeriodEnd) { id status cancelAt }
  }
`)

interface CancelSubscriptionProps {
  appId: string
  subscription: { id: string; userId: string; package: { name: string; isAddon: boolean } }
}

export function CancelSubscription({ appId, subscription }: CancelSubscriptionProps) {
  const [opened, { open, close }] = useDisclosure()
  const [when, setWhen] = useState('end')
  const may = useMay()
  const cancel = useChange(CANCEL, { done: close, said: 'Subscription cancelled.' })
  const { userId, package: p } = subscription
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
      <Modal opened={opened} onClose={close} title={`Cancel ${p.name} of ${userId}`} ta="left">
        <Stack>
          <FormAlert error={cancel.error} />
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
          {!p.isAddon && <Text size="sm">The user's add-ons end with this base plan.</Text>}
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
      </Modal>
    </>
  )
}
