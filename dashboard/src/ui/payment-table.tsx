import { Anchor, Button, Group, Text } from '@mantine/core'
import { IconExternalLink } from '@tabler/icons-react'
import { lazy, Suspense, useState } from 'react'
import { useMay } from '../api/use-account.ts'
import { FormDialog } from '../forms/form-dialog.tsx'
import { DataTable } from './data-table.tsx'
import { AnchorLink } from './links.tsx'
import { Loading } from './loaded.tsx'
import { number } from './number.ts'
import { moneyText, providerName } from './price.ts'
import { useProviderLinks } from './provider-link.ts'
import { Tag, type Tone } from './tag.tsx'
import { When } from './when.tsx'

const RefundForm = lazy(async () => ({ default: (await import('../forms/refund-form.tsx')).RefundForm }))

export interface ShownPayment {
  ref: string
  provider: string
  state: 'PAID' | 'FAILED'
  amount: number
  refunded: number
  currency: string
  decimals: number
  at: string
  refundedAt: string | null
  disputeState: string | null
  subscriptionId: string | null
  packageNames: readonly string[]
  /** the credit it bought */
  credit: { id: string; featureName: string; units: number } | null
}

interface PaymentTableProps {
  appId: string
  payments: readonly ShownPayment[]
  /** On a user's page the payments are for different subscriptions. */
  forUser?: boolean
}

const DISPUTES: Record<string, { tone: Tone; text: string }> = {
  INQUIRY: { tone: 'warn', text: 'Bank inquiry' },
  OPEN: { tone: 'bad', text: 'Disputed' },
  WON: { tone: 'plain', text: 'Dispute won' },
  LOST: { tone: 'bad', text: 'Dispute lost' },
  CLOSED: { tone: 'plain', text: 'Inquiry closed' },
}

/** Payments and invoices, with refunds and links to the provider. */
export function PaymentTable({ appId, payments, forUser = false }: PaymentTableProps) {
  const may = useMay()
  const linkTo = useProviderLinks(
    appId,
    payments.some(({ provider }) => provider === 'stripe'),
  )
  const [refunding, setRefunding] = useState<ShownPayment | null>(null)
  const forPackages = {
    label: 'For',
    cell: ({ subscriptionId, packageNames, credit }: ShownPayment) =>
      credit !== null ? (
        `${number(credit.units)} units of ${credit.featureName}`
      ) : subscriptionId === null ? (
        '–'
      ) : (
        <AnchorLink size="sm" to="/apps/$app/subscriptions/$id" params={{ app: appId, id: subscriptionId }}>
          {packageNames.join(', ')}
        </AnchorLink>
      ),
  }
  return (
    <>
      <DataTable
        label="Payments"
        rows={payments}
        keyOf={({ provider, ref }) => `${provider} ${ref}`}
        columns={[
          { label: 'Date', cell: ({ at }) => <When at={at} /> },
          { label: 'Amount', right: true, cell: (payment) => moneyText(payment) },
          ...(forUser ? [forPackages] : []),
          { label: 'Status', cell: (payment) => <PaymentStatus payment={payment} /> },
          {
            label: 'Invoice',
            wide: true,
            cell: (payment) => <Invoice payment={payment} href={linkTo(payment)} />,
          },
          {
            label: 'Actions',
            hiddenLabel: true,
            right: true,
            cell: (payment) =>
              payment.state === 'PAID' &&
              (payment.subscriptionId !== null || payment.credit !== null) &&
              payment.refunded < payment.amount && (
                <Button
                  size="compact-sm"
                  variant="default"
                  disabled={!may(payment.credit === null ? 'refundPayment' : 'refundCredit')}
                  aria-label={`Refund ${moneyText(payment)}`}
                  onClick={() => setRefunding(payment)}
                >
                  Refund
                </Button>
              ),
          },
        ]}
      />
      <FormDialog
        opened={refunding !== null}
        onClose={() => setRefunding(null)}
        title={refunding === null ? '' : `Refund ${moneyText(refunding)}`}
      >
        <Suspense fallback={<Loading />}>
          {refunding !== null && (
            <RefundForm
              appId={appId}
              paidFor={
                refunding.credit
                  ? { creditId: refunding.credit.id }
                  : { subscriptionId: refunding.subscriptionId ?? '' }
              }
              paymentRef={refunding.ref}
              onDone={() => setRefunding(null)}
            />
          )}
        </Suspense>
      </FormDialog>
    </>
  )
}

function PaymentStatus({ payment }: { payment: ShownPayment }) {
  const { state, amount, refunded, disputeState } = payment
  const dispute = disputeState === null ? undefined : DISPUTES[disputeState]
  return (
    <Group gap="xxs">
      {state === 'FAILED' ? (
        <Tag tone="bad">Failed</Tag>
      ) : refunded >= amount ? (
        <Tag tone="warn">Refunded</Tag>
      ) : refunded > 0 ? (
        <Tag tone="warn" wraps>{`Refunded ${moneyText({ ...payment, amount: refunded })}`}</Tag>
      ) : (
        <Tag tone="good">Paid</Tag>
      )}
      {dispute && <Tag tone={dispute.tone}>{dispute.text}</Tag>}
    </Group>
  )
}

function Invoice({ payment: { provider, ref }, href }: { payment: ShownPayment; href: string | null }) {
  if (href === null) {
    return (
      <Text size="xs" c="dimmed" ff="monospace">
        {ref}
      </Text>
    )
  }
  return (
    <Anchor href={href} target="_blank" rel="noreferrer" size="sm" title={ref}>
      Open in {providerName(provider)} <IconExternalLink size={14} aria-hidden />
    </Anchor>
  )
}
