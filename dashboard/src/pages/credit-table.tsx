import { Text } from '@mantine/core'
import { TryCreditRefund } from '../forms/try-credit-refund.tsx'
import { VoidCredit } from '../forms/void-credit.tsx'
import { DataTable } from '../ui/data-table.tsx'
import { number } from '../ui/number.ts'
import { RowActions } from '../ui/row-actions.tsx'
import { Tag } from '../ui/tag.tsx'
import { When } from '../ui/when.tsx'
import type { Credit } from './credit-query.ts'

const STATES = {
  SCHEDULED: { label: 'Scheduled', tone: 'accent' },
  LIVE: { label: 'Live', tone: 'good' },
  SPENT: { label: 'Spent', tone: 'plain' },
  EXPIRED: { label: 'Expired', tone: 'plain' },
  VOIDED: { label: 'Voided', tone: 'plain' },
} as const

interface CreditTableProps {
  appId: string
  credits: readonly Credit[]
  nameOf: (featureId: string) => string
}

/** A user's credits, and the units left of each. */
export function CreditTable({ appId, credits, nameOf }: CreditTableProps) {
  return (
    <DataTable
      label="Credits"
      rows={credits}
      keyOf={({ id }) => id}
      columns={[
        {
          label: 'Feature',
          cell: ({ featureId, reason }) => (
            <>
              {nameOf(featureId)}
              {reason && (
                <Text size="xs" c="dimmed" className="break">
                  {reason}
                </Text>
              )}
            </>
          ),
        },
        {
          label: 'Left',
          right: true,
          cell: (credit) => <Left {...credit} />,
        },
        { label: 'Reserved', right: true, wide: true, cell: ({ reserved }) => number(reserved) },
        { label: 'Kind', wide: true, cell: ({ kind }) => (kind === 'PAID' ? 'Paid' : 'Promotional') },
        { label: 'Priority', right: true, wide: true, cell: ({ priority }) => number(priority) },
        {
          label: 'Expires',
          cell: ({ expiresAt }) => (expiresAt ? <When at={expiresAt} time /> : 'Never'),
        },
        {
          label: 'State',
          cell: ({ state, effectiveAt }) => (
            <>
              <Tag tone={STATES[state].tone}>{STATES[state].label}</Tag>
              {state === 'SCHEDULED' && (
                <Text size="xs" c="dimmed">
                  from <When at={effectiveAt} />
                </Text>
              )}
            </>
          ),
        },
        {
          label: 'Actions',
          hiddenLabel: true,
          right: true,
          cell: (credit) => (
            <RowActions>
              {credit.provider === 'sandbox' && <TryCreditRefund appId={appId} creditId={credit.id} />}
              {(credit.state === 'LIVE' || credit.state === 'SCHEDULED') && (
                <VoidCredit appId={appId} credit={credit} left={leftOf(credit)} />
              )}
            </RowActions>
          ),
        },
      ]}
    />
  )
}

const leftOf = ({ amount, used, reserved }: Credit): number => Math.max(0, amount - used - reserved)

/** Units that can be used now or once the credit is effective, and why others cannot. */
function Left(credit: Credit) {
  const { amount, bought, state } = credit
  const unused = leftOf(credit)
  const isOver = state === 'VOIDED' || state === 'EXPIRED'
  return (
    <>
      {number(isOver ? 0 : unused)} of {number(amount)}
      {isOver && unused > 0 && (
        <Text size="xs" c="dimmed">
          {number(unused)} {state === 'VOIDED' ? 'voided' : 'expired'} unused
        </Text>
      )}
      {bought !== null && bought !== amount && (
        <Text size="xs" c="dimmed">
          {number(bought)} bought, {amount === 0 ? 'all' : 'the rest'} refunded
        </Text>
      )}
    </>
  )
}
