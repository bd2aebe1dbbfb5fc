import { Button, Group, Select, Stack, Text } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useQueryClient } from '@tanstack/react-query'
import { graphql, type ResultOf } from '../api/graphql.ts'
import { useAsk, useChange } from '../api/use-api.ts'
import { ReversalTags } from '../pages/reversal-tags.tsx'
import { FormAlert } from '../ui/form-alert.tsx'
import { Loaded } from '../ui/loaded.tsx'
import { SkeletonLines } from '../ui/skeletons.tsx'
import { dateOf } from '../ui/when.tsx'
import { useUnsaved } from './unsaved.ts'

const PAYMENTS = graphql(`
  query SandboxPayments($appId: String!, $subscriptionId: String, $creditId: String) {
    sandboxPayments(appId: $appId, subscriptionId: $subscriptionId, creditId: $creditId) {
      paymentRef amount refunded amountText refundedText paidAt refundedAt dispute { state reason openedAt }
    }
  }
`)
const REVERSE = graphql(`
  mutation ReverseSandboxPayment($appId: String!, $subscriptionId: String!, $paymentRef: String!, $action: SandboxReversal!, $amount: SafeInt) {
    reverseSandboxPayment(appId: $appId, subscriptionId: $subscriptionId, paymentRef: $paymentRef, action: $action, amount: $amount) {
      paymentRef
    }
  }
`)
const REVERSE_CREDIT = graphql(`
  mutation ReverseSandboxCredit($appId: String!, $creditId: String!, $action: SandboxReversal!, $amount: SafeInt) {
    reverseSandboxCredit(appId: $appId, creditId: $creditId, action: $action, amount: $amount) { paymentRef }
  }
`)
type Payment = ResultOf<typeof PAYMENTS>['sandboxPayments'][number]

/** When the sandbox's webhook event has arrived and been handled, as a rule, and on a busy machine. */
const NOTICE_MS = [1_500, 5_000, 15_000]

interface TryRefundFormProps {
  appId: string
  paidFor: { subscriptionId: string } | { creditId: string }
}

export function TryRefundForm({ appId, paidFor }: TryRefundFormProps) {
  const asked = useAsk(PAYMENTS, { appId, subscriptionId: null, creditId: null, ...paidFor })
  const client = useQueryClient()
  const form = useForm({ initialValues: { chosen: null as string | null } })
  const { saved } = useUnsaved(form)
  const { chosen } = form.values
  const what = 'creditId' in paidFor ? 'credit' : 'subscription'
  const told = {
    said: `Done. The ${what} updates when the webhook event arrives.`,
    done: saved(() => {
      for (const ms of NOTICE_MS) setTimeout(() => void client.invalidateQueries(), ms)
    }),
  }
  const reversePayment = useChange(REVERSE, told)
  const reverseCredit = useChange(REVERSE_CREDIT, told)
  const reverse = 'creditId' in paidFor ? reverseCredit : reversePayment
  const act = (paymentRef: string, action: Action['action'], amount: number | null) =>
    'creditId' in paidFor
      ? reverseCredit.mutate({ appId, action, amount, ...paidFor })
      : reversePayment.mutate({ appId, action, amount, paymentRef, ...paidFor })
  return (
    <Loaded of={asked} skeleton={<SkeletonLines />}>
      {({ sandboxPayments: payments }) => {
        const payment = payments.find(({ paymentRef }) => paymentRef === chosen) ?? payments[0]
        if (!payment) return <Text>No payments yet.</Text>
        return (
          <Stack>
            <Text size="sm">
              Sandbox only: simulate what the shop, the payer or the bank does. Each step sends a webhook
              event, as Stripe does.
            </Text>
            <FormAlert error={reverse.error} />
            <Select
              label="Payment"
              data={payments.map(({ paymentRef, amountText, paidAt }) => ({
                value: paymentRef,
                label: `${amountText} on ${dateOf(paidAt)}`,
              }))}
              value={payment.paymentRef}
              onChange={(ref) => form.setFieldValue('chosen', ref)}
              allowDeselect={false}
            />
            <ReversalTags reversals={isReversed(payment) ? [payment] : []} />
            <Group gap="xs">
              {actionsFor(payment).map(({ label, action, amount }) => (
                <Button
                  key={label}
                  variant="default"
                  loading={reverse.isPending}
                  onClick={() => act(payment.paymentRef, action, amount ?? null)}
                >
                  {label}
                </Button>
              ))}
            </Group>
          </Stack>
        )
      }}
    </Loaded>
  )
}

const isReversed = ({ refundedAt, dispute }: Payment) => refundedAt !== null || dispute !== null

interface Action {
  label: string
  action: 'REFUND' | 'FAIL_REFUND' | 'INQUIRE' | 'DISPUTE' | 'WIN_DISPUTE' | 'LOSE_DISPUTE'
  amount?: number
}

/** What can happen to a payment that stands like this. */
function actionsFor({ amount, refunded, dispute }: Payment): Action[] {
  if (dispute?.state === 'OPEN') {
    return [
      { label: 'Win the dispute', action: 'WIN_DISPUTE' },
      { label: 'Lose the dispute', action: 'LOSE_DISPUTE' },
    ]
  }
  const left = amount - refunded
  const half = Math.floor(left / 2)
  const actions: Action[] = []
  if (left > 0 && dispute?.state !== 'LOST')
    actions.push({ label: refunded > 0 ? 'Refund the rest' : 'Refund in full', action: 'REFUND' })
  if (half > 0 && dispute?.state !== 'LOST')
    actions.push({ label: 'Refund half', action: 'REFUND', amount: half })
  if (refunded > 0) actions.push({ label: 'Fail the last refund', action: 'FAIL_REFUND' })
  if (!dispute) actions.push({ label: 'Bank inquiry', action: 'INQUIRE' })
  if (!dispute || dispute.state === 'INQUIRY') actions.push({ label: 'Payer disputes it', action: 'DISPUTE' })
  return actions
}
