import { Button, Group, Radio, Stack } from '@mantine/core'
import { useState } from 'react'
import { graphql } from '../api/graphql.ts'
import { useMay } from '../api/use-account.ts'
import { useChange } from '../api/use-api.ts'
import { FormAlert } from '../ui/form-alert.tsx'

const SET = graphql(`
  mutation SetAccessAfterRefund($appId: String!, $access: AccessAfterRefund!) {
    setAccessAfterRefund(appId: $appId, access: $access) { accessAfterRefund }
  }
`)

type Access = 'KEEP' | 'END'

/** Whether access ends with the money. */
export function AccessAfterRefundForm({ appId, access }: { appId: string; access: Access }) {
  const may = useMay()
  const [chosen, setChosen] = useState<Access>(access)
  const set = useChange(SET, { said: 'Saved.' })
  return (
    <Stack gap="xs" align="flex-start">
      <FormAlert error={set.error} />
      <Radio.Group
        label="After a full refund or a dispute"
        description="Of everything paid for the running period; also decides about refunds and disputes so far"
        value={chosen}
        onChange={(value) => setChosen(value as Access)}
      >
        <Stack gap="xs" mt="xs">
          <Radio
            value="KEEP"
            label="Keep access"
            description="Refunds and disputes are shown on the subscription; cancel it to end access"
          />
          <Radio
            value="END"
            label="End access"
            description="A refund that fails, a dispute you win, or the next payment starts a new subscription"
          />
        </Stack>
      </Radio.Group>
      <Group>
        <Button
          variant="default"
          aria-label="Save what follows a refund"
          loading={set.isPending}
          disabled={!may('setAccessAfterRefund')}
          onClick={() => set.mutate({ appId, access: chosen })}
        >
          Save
        </Button>
      </Group>
    </Stack>
  )
}
