import { Button, Group, List, Select, Stack, Text, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { graphql, type ResultOf } from '../api/graphql.ts'
import { useAsk, useChange } from '../api/use-api.ts'
import { FormAlert } from '../ui/form-alert.tsx'
import { Loaded } from '../ui/loaded.tsx'
import { Note } from '../ui/note.tsx'
import { decimalText, moneyText, providerName } from '../ui/price.ts'
import { SkeletonLines } from '../ui/skeletons.tsx'
import { typedAmount } from './amount.ts'
import { FormActions } from './form-actions.tsx'
import { fieldsOf, ontoFields } from './onto-fields.ts'
import { useUnsaved } from './unsaved.ts'

const PREVIEW = graphql(`
  query RefundPreview($appId: String!, $subscriptionId: String, $creditId: String, $paymentRef: String!) {
    refundPreview(appId: $appId, subscriptionId: $subscriptionId, creditId: $creditId, paymentRef: $paymentRef) {
      provider amount refunded remaining currency decimals
    }
    billingSettings(appId: $appId) { accessAfterRefund }
  }
`)
const REFUND = graphql(`
  mutation RefundPayment(
    $appId: String!, $subscriptionId: String!, $paymentRef: String!, $amount: SafeInt, $reason: RefundReason!, $key: String!
  ) {
    refundPayment(
      appId: $appId, subscriptionId: $subscriptionId, paymentRef: $paymentRef, amount: $amount, reason: $reason, key: $key
    ) { remaining }
  }
`)
const REFUND_CREDIT = graphql(`
  mutation RefundCredit(
    $appId: String!, $creditId: String!, $paymentRef: String!, $amount: SafeInt, $reason: RefundReason!, $key: String!
  ) {
    refundCredit(
      appId: $appId, creditId: $creditId, paymentRef: $paymentRef, amount: $amount, reason: $reason, key: $key
    ) { remaining }
  }
`)

const REASONS = [
  { value: 'REQUESTED_BY_CUSTOMER', label: 'Requested by customer' },
  { value: 'DUPLICATE', label: 'Duplicate payment' },
  { value: 'FRAUDULENT', label: 'Fraudulent payment' },
] as const

/** When the provider's report has arrived and been handled, usually, and on a busy machine. */
const REPORT_MS = [1_500, 5_000, 15_000]

interface RefundFormProps {
  appId: string
  paidFor: { subscriptionId: string } | { creditId: string }
  paymentRef: string
  onDone: () => void
}

/** Refunds a payment after a preview, a reason and a confirmation. */
export function RefundForm(props: RefundFormProps) {
  const { appId, paidFor, paymentRef } = props
  const asked = useAsk(PREVIEW, { appId, subscriptionId: null, creditId: null, ...paidFor, paymentRef })
  return (
    <Loaded of={asked} skeleton={<SkeletonLines />}>
      {({ refundPreview, billingSettings }) =>
        refundPreview === null ? null : refundPreview.remaining === 0 ? (
          <Text size="sm">This payment has been refunded in full.</Text>
        ) : (
          <Fields
            {...props}
            payment={refundPreview}
            endsAccess={billingSettings?.accessAfterRefund === 'END'}
          />
        )
      }
    </Loaded>
  )
}

type Preview = NonNullable<ResultOf<typeof PREVIEW>['refundPreview']>

function Fields({
  appId,
  paidFor,
  paymentRef,
  onDone,
  payment,
  endsAccess,
}: RefundFormProps & { payment: Preview; endsAccess: boolean }) {
  const { provider, amount: paid, remaining, currency, decimals } = payment
  const [reviewing, setReviewing] = useState(false)
  // A repeated click refunds once.
  const [key] = useState(newKey)
  const client = useQueryClient()
  const money = (amount: number) => moneyText({ amount, currency, decimals })
  const form = useForm({
    initialValues: {
      amount: decimalText(remaining, decimals),
      reason: 'REQUESTED_BY_CUSTOMER' as (typeof REASONS)[number]['value'],
    },
    validate: {
      amount: (text): string | null => {
        const { amount, problem } = typedAmount(
          text,
          { code: currency, decimals, step: 1 },
          navigator.language,
        )
        if (amount === null) return problem
        if (amount === 0) return 'The amount is missing.'
        return amount > remaining ? `At most ${money(remaining)} can be refunded.` : null
      },
    },
  })
  const { saved } = useUnsaved(form)
  const { amount } = typedAmount(
    form.values.amount,
    { code: currency, decimals, step: 1 },
    navigator.language,
  )
  const told = {
    done: saved(() => {
      for (const ms of REPORT_MS) setTimeout(() => void client.invalidateQueries(), ms)
      onDone()
    }),
    said: `${money(amount ?? 0)} of ${money(paid)} refunded. ${providerName(provider)} confirms it shortly.`,
  }
  const refundPayment = useChange(REFUND, told)
  const refundCredit = useChange(REFUND_CREDIT, told)
  const refund = 'creditId' in paidFor ? refundCredit : refundPayment
  const send = (input: { amount: number; reason: (typeof REASONS)[number]['value'] }) => {
    const asked = { appId, paymentRef, key, ...input }
    if ('creditId' in paidFor) refundCredit.mutate({ ...asked, ...paidFor }, ontoFields(form))
    else refundPayment.mutate({ ...asked, ...paidFor }, ontoFields(form))
  }
  if (reviewing && amount !== null) {
    const left = remaining - amount
    return (
      <Stack>
        <FormAlert error={refund.error} />
        <Note tone="warn" title={`Refund ${money(amount)} to the customer?`}>
          {provider === 'sandbox'
            ? 'The sandbox moves no money.'
            : `${providerName(provider)} returns the money to the original payment method. This cannot be undone.`}
        </Note>
        <List size="sm" spacing="xs">
          <List.Item>
            {left === 0
              ? `The payment of ${money(paid)} is then refunded in full.`
              : `${money(left)} of the payment of ${money(paid)} remains.`}
          </List.Item>
          <List.Item>
            {'creditId' in paidFor
              ? endsAccess
                ? 'Units that are neither used nor reserved are taken back, in proportion.'
                : 'The credit does not change. To end it, void it.'
              : endsAccess && left === 0
                ? 'Access ends if everything paid for the current period is refunded.'
                : 'Access does not change. To end it, cancel the subscription.'}
          </List.Item>
        </List>
        <Group justify="flex-end" gap="xs">
          <Button variant="default" onClick={() => setReviewing(false)}>
            Back
          </Button>
          <Button
            color="red.9"
            loading={refund.isPending}
            onClick={() => send({ amount, reason: form.values.reason })}
            data-autofocus
          >
            Refund {money(amount)}
          </Button>
        </Group>
      </Stack>
    )
  }
  return (
    <form noValidate onSubmit={form.onSubmit(() => setReviewing(true))}>
      <Stack>
        <FormAlert error={refund.error} fields={fieldsOf(form)} />
        <Text size="sm">
          {money(remaining)} of {money(paid)} can be refunded. Quoted by {providerName(provider)}.
        </Text>
        <TextInput
          label={`Amount in ${currency.toUpperCase()}`}
          inputMode="decimal"
          autoComplete="off"
          data-autofocus
          {...form.getInputProps('amount')}
        />
        <Select label="Reason" data={REASONS} allowDeselect={false} {...form.getInputProps('reason')} />
        <FormActions submit="Review refund" busy={false} onCancel={onDone} />
      </Stack>
    </form>
  )
}

/** crypto.randomUUID is missing on pages that are not served over TLS. */
const newKey = () => [...crypto.getRandomValues(new Uint32Array(4))].map((n) => n.toString(36)).join('')
