import { Button, Group, Stack, Text, Title } from '@mantine/core'
import { IconPlus } from '@tabler/icons-react'
import { useSearch } from '@tanstack/react-router'
import { lazy, Suspense, useState } from 'react'
import { useMay } from '../api/use-account.ts'
import { useAsk } from '../api/use-api.ts'
import { CreditForm } from '../forms/credit-form.tsx'
import { FormDialog } from '../forms/form-dialog.tsx'
import { ReleaseReservation } from '../forms/release-reservation.tsx'
import { DataTable } from '../ui/data-table.tsx'
import { Empty } from '../ui/empty.tsx'
import { AnchorLink } from '../ui/links.tsx'
import { Loaded, Loading } from '../ui/loaded.tsx'
import { number, units } from '../ui/number.ts'
import { Pager } from '../ui/pager.tsx'
import { RowActions } from '../ui/row-actions.tsx'
import { SkeletonTable } from '../ui/skeletons.tsx'
import { When } from '../ui/when.tsx'
import { CREDITS, type CreditedFeature, type CreditPage } from './credit-query.ts'
import { CreditTable } from './credit-table.tsx'

const UserRecharges = lazy(async () => ({
  default: (await import('./user-recharges.tsx')).UserRecharges,
}))

interface UserCreditsProps {
  appId: string
  userId: string
  /** Opens the form that sells credits to the user. */
  onSendLink: () => void
}

/** Credits, reservations and automatic recharges of a user. */
export function UserCredits({ appId, userId, onSendLink }: UserCreditsProps) {
  const may = useMay()
  const { after } = useSearch({ strict: false })
  const asked = useAsk(CREDITS, { appId, userId, after: after ?? null }, { keepPrevious: true })
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
      {({ creditPage, reservations, features }) => {
        const credits = creditPage?.rows ?? []
        const featureOf = (id: string) => features.find((feature) => feature.id === id)
        return (
          <Stack gap="xl">
            {credits.length === 0 && after === undefined ? (
              <Empty title="No credits" action={add}>
                A credit is a number of units that this user can use in addition to the plan: bought, promised
                or given, with an expiry if you like.
              </Empty>
            ) : (
              <Stack>
                <Group justify="space-between" align="flex-start">
                  <Balances balances={creditPage?.balances ?? []} features={features} />
                  {add}
                </Group>
                <CreditTable appId={appId} credits={credits} nameOf={(id) => featureOf(id)?.name ?? id} />
                <Pager after={after} next={creditPage?.next} />
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

const unitsOf = (amount: number, feature: CreditedFeature | undefined): string =>
  units(amount, feature?.unitLabel, feature?.unitLabelPlural)

/** By feature: how many units are left, and how many of them expire next. */
function Balances({
  balances,
  features,
}: Pick<CreditPage, 'balances'> & { features: readonly CreditedFeature[] }) {
  return (
    <Stack gap="xs">
      {balances.length === 0 && <Text c="dimmed">No credit can be used now.</Text>}
      {balances.map(({ featureId, left, nextExpiry, nextExpiring }) => {
        const feature = features.find(({ id }) => id === featureId)
        return (
          <Text key={featureId}>
            <b>{feature?.name ?? featureId}</b>: {unitsOf(left, feature)} left
            {nextExpiry !== null && (
              <>
                , {number(nextExpiring ?? 0)} of them until <When at={nextExpiry} />
              </>
            )}
          </Text>
        )
      })}
    </Stack>
  )
}
