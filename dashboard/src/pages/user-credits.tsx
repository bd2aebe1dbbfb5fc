import { Button, Group, Stack, Text, Title } from '@mantine/core'
import { IconPlus } from '@tabler/icons-react'
import { lazy, Suspense, useState } from 'react'
import { graphql, type ResultOf } from '../api/graphql.ts'
import { useMay } from '../api/use-account.ts'
import { useAsk } from '../api/use-api.ts'
import { CreditForm } from '../forms/credit-form.tsx'
import { FormDialog } from '../forms/form-dialog.tsx'
import { ReleaseReservation } from '../forms/release-reservation.tsx'
import { TryCreditRefund } from '../forms/try-credit-refund.tsx'
import { VoidCredit } from '../forms/void-credit.tsx'
import { DataTable } from '../ui/data-table.tsx'
import { Empty } from '../ui/empty.tsx'
import { AnchorLink } from '../ui/links.tsx'
import { Loaded, Loading } from '../ui/loaded.tsx'
import { number, units } from '../ui/number.ts'
import { RowActions } from '../ui/row-actions.tsx'
import { SkeletonTable } from '../ui/skeletons.tsx'
import { Tag } from '../ui/tag.tsx'
import { When } from '../ui/when.tsx'

const UserRecharges = lazy(async () => ({
  default: (await import('./user-recharges.tsx')).UserRecharges,
}))

const CREDITS = graphql(`
  query Credits($appId: String!, $userId: String!) {
    credits(appId: $appId, userId: $userId) {
      id featureId amount bought provider used reserved kind priority effectiveAt expiresAt state reason
    }
    reservations(appId: $appId, userId: $userId, state: HELD) {
      id featureId reserved settled createdAt expiresAt
    }
    features(appId: $appId) { id name type unitLabel unitLabelPlural }
  }
`)
type Answer = ResultOf<typeof CREDITS>
type Credit = Answer['credits'][number]
type Feature = Answer['features'][number]

interface UserCreditsProps {
  appId: string
  userId: string
  /** Opens the form that sells credits to the user. */
  onSendLink: () => void
}

/** Credits, reservations and automatic recharges of a user. */
export function UserCredits({ appId, userId, onSendLink }: UserCreditsProps) {
  const may = useMay()
  const asked = useAsk(CREDITS, { appId, userId })
  const [adding, setAdding] = useState(false)
  const add = (
    <Group gap="xs">
      <Button variant="default" onClick={onSendLink} disabled={!may('generateCreditLink')}>
        Sell credits
      </Button>
      <Button
        leftSection={<IconPlus size={16} aria-hidden />}
        disabled={!may('addCredit')}
        onClick={() => setAdding(true)}
      >
        Add credit
      </Button>
    </Group>
  )
  return (
    <Loaded of={asked} skeleton={<SkeletonTable columns={5} lines={1} rows={3} />}>
      {({ credits, reservations, features }) => {
        const featureOf = (id: string) => features.find((feature) => feature.id === id)
        return (
          <Stack gap="xl">
            {credits.length === 0 ? (
              <Empty title="No credits" action={add}>
                A credit is a number of units that this user can use in addition to the plan: bought, promised
                or given, with an expiry if you like.
              </Empty>
            ) : (
              <Stack>
                <Group justify="space-between" align="flex-start">
                  <Balances credits={credits} features={features} />
                  {add}
                </Group>
                <CreditTable appId={appId} credits={credits} nameOf={(id) => featureOf(id)?.name ?? id} />
                <Text size="sm" c="dimmed">
                  What each credit paid for is in the{' '}
                  <AnchorLink
                    size="sm"
                    underline="always"
                    to="/apps/$app/users/$id"
                    params={{ app: appId, id: userId }}
                    search={{ tab: 'ledger' }}
                  >
                    ledger
                  </AnchorLink>
                  .
                </Text>
              </Stack>
            )}
            {reservations.length > 0 && (
              <Stack>
                <Title order={2} size="h4">
                  Open reservations
                </Title>
                <DataTable
                  label="Open reservations"
                  rows={reservations}
                  keyOf={({ id }) => id}
                  columns={[
                    { label: 'Feature', cell: ({ featureId }) => featureOf(featureId)?.name ?? featureId },
                    { label: 'Held', right: true, cell: ({ reserved }) => number(reserved) },
                    { label: 'Settled', right: true, wide: true, cell: ({ settled }) => number(settled) },
                    { label: 'Since', wide: true, cell: ({ createdAt }) => <When at={createdAt} time /> },
                    { label: 'Until', cell: ({ expiresAt }) => <When at={expiresAt} time /> },
                    {
                      label: 'Actions',
                      hiddenLabel: true,
                      right: true,
                      cell: ({ id, reserved, featureId }) => (
                        <RowActions>
                          <ReleaseReservation
                            appId={appId}
                            id={id}
                            held={unitsOf(reserved, featureOf(featureId))}
                          />
                        </RowActions>
                      ),
                    },
                  ]}
                />
              </Stack>
            )}
            <Suspense
              fallback={
                <Loading>
                  <SkeletonTable columns={5} lines={1} rows={1} />
                </Loading>
              }
            >
              <UserRecharges appId={appId} userId={userId} />
            </Suspense>
            <FormDialog opened={adding} onClose={() => setAdding(false)} title="Add credit">
              <CreditForm
                appId={appId}
                userId={userId}
                features={features.filter(({ type }) => type === 'CONSUMABLE')}
                onDone={() => setAdding(false)}
              />
            </FormDialog>
          </Stack>
        )
      }}
    </Loaded>
  )
}

const leftOf = ({ amount, used, reserved }: Credit): number => Math.max(0, amount - used - reserved)

const unitsOf = (amount: number, feature: Feature | undefined): string =>
  units(amount, feature?.unitLabel, feature?.unitLabelPlural)

/** By feature: how many units are left, and which of them expire next. */
function Balances({ credits, features }: { credits: readonly Credit[]; features: readonly Feature[] }) {
  const live = credits.filter(({ state }) => state === 'LIVE')
  const balances = features.flatMap((feature) => {
    const own = live.filter(({ featureId }) => featureId === feature.id)
    const [next] = own
      .filter(({ expiresAt }) => expiresAt !== null)
      .sort((a, b) => Date.parse(a.expiresAt ?? '') - Date.parse(b.expiresAt ?? ''))
    return own.length === 0 ? [] : [{ feature, left: own.reduce((sum, one) => sum + leftOf(one), 0), next }]
  })
  return (
    <Stack gap="xs">
      {balances.length === 0 && <Text c="dimmed">No credit can be used now.</Text>}
      {balances.map(({ feature, left, next }) => (
        <Text key={feature.id}>
          <b>{feature.name}</b>: {unitsOf(left, feature)} left
          {next?.expiresAt && (
            <>
              , {number(leftOf(next))} of them until <When at={next.expiresAt} />
            </>
          )}
        </Text>
      ))}
    </Stack>
  )
}

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

function CreditTable({ appId, credits, nameOf }: CreditTableProps) {
  return (
    <DataTable
      label="Credits"
      rows={[...credits].reverse()}
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
          cell: (credit) => (
            <>
              {number(leftOf(credit))} of {number(credit.amount)}
              {credit.bought !== null && credit.bought !== credit.amount && (
                <Text size="xs" c="dimmed">
                  {number(credit.bought)} bought, the rest was refunded
                </Text>
              )}
            </>
          ),
        },
        { label: 'Reserved', right: true, wide: true, cell: ({ reserved }) => number(reserved) },
        { label: 'Kind', wide: true, cell: ({ kind }) => (kind === 'PAID' ? 'Paid' : 'Promotional') },
        { label: 'Priority', right: true, wide: true, cell: ({ priority }) => number(priority) },
        {
          label: 'Expires',
          wide: true,
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
