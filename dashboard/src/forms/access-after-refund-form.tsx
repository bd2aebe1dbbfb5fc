import { Button, Radio, Stack } from '@mantine/core'
import { useForm } from '@mantine/form'
import { graphql } from '../api/graphql.ts'
import { useMay } from '../api/use-account.ts'
import { useChange } from '../api/use-api.ts'
import { FormAlert } from '../ui/form-alert.tsx'
import { useUnsaved } from './unsaved.ts'

const SET = graphql(`
  mutation SetAccessAfterRefund($appId: String!, $access: AccessAfterRefund!) {
    setAccessAfterRefund(appId: $appId, access: $access) { accessAfterRefund }
  }
`)

/** Whether access ends with the money. */
export function AccessAfterRefundForm({ appId, access }: { appId: string; access: 'KEEP' | 'END' }) {
  const may = useMay()
  const form = useForm({ initialValues: { access } })
  const { saved } = useUnsaved(form)
  const set = useChange(SET, { said: 'Access after a refund saved.', done: saved() })
  return (
    <form onSubmit={form.onSubmit(({ access }) => set.mutate({ appId, access }))}>
      <Stack gap="xs" align="flex-start">
        <FormAlert error={set.error} />
        <Radio.Group
          label="After a full refund or a dispute"
          description="When everything paid for the current period is returned. Applies to past refunds and disputes too"
          {...form.getInputProps('access')}
        >
          <Stack gap="xs" mt="xs">
            <Radio
              value="KEEP"
              label="Keep access"
              description="Refunds and disputes are shown on the subscription; cancel it to end access. Bought credits stay"
            />
            <Radio
              value="END"
              label="End access"
              description="A refund that fails, a dispute you win, or the next payment starts a new subscription. Bought credits are reduced to the share still paid for, but not below what is used"
            />
          </Stack>
        </Radio.Group>
        <Button
          type="submit"
          variant="default"
          aria-label="Save what follows a refund"
          loading={set.isPending}
          disabled={!may('setAccessAfterRefund')}
        >
          Save
        </Button>
      </Stack>
    </form>
  )
}
