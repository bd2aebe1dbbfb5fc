import { Paper, SimpleGrid, Stack, Text } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { number, units } from '../ui/number.ts'
import { moneyText, providerName } from '../ui/price.ts'
import { SkeletonCards } from '../ui/skeletons.tsx'
import type { Figures } from './revenue-query.ts'

type Range = '7' | '30' | '90' | '365'
type ListName =
  | 'mrr'
  | 'refunded'
  | 'new'
  | 'changed'
  | 'cancelled'
  | 'past-due'
  | 'trialing'
  | 'paid'
  | 'failed'

interface OfRevenue {
  appId: string
  revenue: Figures
  range: Range
}

const MONEY = { base: 1, xs: 2, lg: 4 }
const MOVEMENTS = { base: 2, sm: 5 }

export function SkeletonFigures() {
  return (
    <Stack gap="lg">
      <SkeletonCards cards={4} cols={MONEY} height={124} />
      <SkeletonCards cards={5} cols={MOVEMENTS} height={90} />
    </Stack>
  )
}

/** What comes in each month, and what was paid, by provider and currency. */
export function MoneyFigures({ appId, revenue, range }: OfRevenue) {
  const { mrr, payments } = revenue
  const several = new Set([...mrr, ...payments].map(({ provider }) => provider)).size > 1
  const at = (provider: string) =>
    several || provider === 'sandbox'
      ? ` · ${provider === 'sandbox' ? 'Sandbox' : providerName(provider)}`
      : ''
  return (
    <SimpleGrid cols={MONEY}>
      <Figure label="Monthly recurring revenue" to={{ appId, range, list: 'mrr' }}>
        {mrr.length === 0 && <Amount text="–" note="No billed subscriptions" />}
        {mrr.map(({ provider, currency, decimals, amount, pastDue }) => (
          <Amount
            key={`${provider} ${currency}`}
            text={moneyText({ amount, decimals, currency })}
            note={`${pastDue > 0 ? `${moneyText({ amount: pastDue, decimals, currency })} of it past due` : 'per month'}${at(provider)}`}
          />
        ))}
      </Figure>
      <Figure label="Payments, less refunds" to={{ appId, range, list: 'paid' }}>
        {payments.length === 0 && <Amount text="–" note="None in this range" />}
        {payments.map(({ provider, currency, decimals, paid, paidAmount, refundedAmount }) => (
          <Amount
            key={`${provider} ${currency}`}
            text={moneyText({ amount: paidAmount - refundedAmount, decimals, currency })}
            note={`${moneyText({ amount: paidAmount, decimals, currency })} in ${units(paid, 'payment', 'payments')}${at(provider)}`}
          />
        ))}
      </Figure>
      <Figure label="Refunds and disputes" to={{ appId, range, list: 'refunded' }}>
        {payments.every(({ refunded }) => refunded === 0) && <Amount text="–" note="None in this range" />}
        {payments
          .filter(({ refunded }) => refunded > 0)
          .map(({ provider, currency, decimals, refunded, refundedAmount }) => (
            <Amount
              key={`${provider} ${currency}`}
              text={moneyText({ amount: refundedAmount, decimals, currency })}
              note={`of ${units(refunded, 'payment', 'payments')}${at(provider)}`}
            />
          ))}
      </Figure>
      <Figure label="Failed payments" to={{ appId, range, list: 'failed' }}>
        {payments.every(({ failed }) => failed === 0) && <Amount text="–" note="None in this range" />}
        {payments
          .filter(({ failed }) => failed > 0)
          .map(({ provider, currency, decimals, failed, failedAmount }) => (
            <Amount
              key={`${provider} ${currency}`}
              text={moneyText({ amount: failedAmount, decimals, currency })}
              note={`${units(failed, 'payment', 'payments')} still unpaid${at(provider)}`}
            />
          ))}
      </Figure>
    </SimpleGrid>
  )
}

/** How many subscriptions came, changed and went. */
export function MovementFigures({ appId, revenue, range }: OfRevenue) {
  const of = (label: string, list: ListName, value: number) => (
    <Figure label={label} to={{ appId, range, list }}>
      <Amount text={number(value)} />
    </Figure>
  )
  return (
    <SimpleGrid cols={MOVEMENTS}>
      {of('New', 'new', revenue.new)}
      {of('Changed', 'changed', revenue.changed)}
      {of('Cancelled', 'cancelled', revenue.cancelled)}
      {of('Past due', 'past-due', revenue.pastDue)}
      {of('Trialing', 'trialing', revenue.trialing)}
    </SimpleGrid>
  )
}

function Figure({
  label,
  to,
  children,
}: {
  label: string
  to?: { appId: string; range: Range; list: ListName }
  children: ReactNode
}) {
  return (
    <Paper p="md" radius="md">
      <Text size="sm" c="dimmed">
        {to ? (
          <Link
            to="/apps/$app/revenue"
            params={{ app: to.appId }}
            search={{ range: to.range, list: to.list }}
            resetScroll={false}
            className="row-link"
          >
            {label}
          </Link>
        ) : (
          label
        )}
      </Text>
      <Stack gap="xxs">{children}</Stack>
    </Paper>
  )
}

function Amount({ text, note }: { text: string; note?: string }) {
  return (
    <div>
      <Text fz={24} fw={650} className="numbers">
        {text}
      </Text>
      {note !== undefined && (
        <Text size="xs" c="dimmed">
          {note}
        </Text>
      )}
    </div>
  )
}
