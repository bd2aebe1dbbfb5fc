import { Button, Group, Stack, Text, Title } from '@mantine/core'
import { IconPlus } from '@tabler/icons-react'
import { useQueryClient } from '@tanstack/react-query'
import { lazy, Suspense, useEffect, useState } from 'react'
import { graphql, type ResultOf } from '../api/graphql.ts'
import { useMay } from '../api/use-account.ts'
import { useAsk } from '../api/use-api.ts'
import { FormDialog } from '../forms/form-dialog.tsx'
import { RemoveRecharge } from '../forms/remove-recharge.tsx'
import { DataTable } from '../ui/data-table.tsx'
import { AnchorLink } from '../ui/links.tsx'
import { Loaded, Loading } from '../ui/loaded.tsx'
import { number, units } from '../ui/number.ts'
import { moneyText } from '../ui/price.ts'
import { RowActions } from '../ui/row-actions.tsx'
import { SkeletonTable } from '../ui/skeletons.tsx'
import { Tag, type Tone } from '../ui/tag.tsx'
import { When } from '../ui/when.tsx'

const RechargeForm = lazy(async () => ({
  default: (await import('../forms/recharge-form.tsx')).RechargeForm,
}))

const RECHARGES = graphql(`
  query UserRecharges($appId: String!, $userId: String!) {
    autoRecharges(appId: $appId, userId: $userId) {
      featureId below upTo priceId maxSpendPerPeriod spent state waitsUntil reason
      lastCharge { amount state startedAt }
    }
    prices(appId: $appId, includeArchived: true) {
      id provider amount decimals currency archivedAt credits { featureId units expiresDays }
    }
    features(appId: $appId) { id name type unitLabel unitLabelPlural }
  }
`)
type Answer = ResultOf<typeof RECHARGES>
type Recharge = Answer['autoRecharges'][number]
type Price = Answer['prices'][number]

/** How often a charge under way is looked at. */
const CHARGING_MS = 2_000

const STATES: Record<Recharge['state'], { tone: Tone; text: string }> = {
  ON: { tone: 'good', text: 'On' },
  CHARGING: { tone: 'accent', text: 'Charging' },
  WAITING: { tone: 'warn', text: 'Waiting' },
  OFF: { tone: 'bad', text: 'Off' },
}

/** Automatic recharges of a user's credits. */
export function UserRecharges({ appId, userId }: { appId: string; userId: string }) {
  const may = useMay()
  const asked = useAsk(RECHARGES, { appId, userId })
  /** the one that is changed, `new` for one that is set */
  const [open, setOpen] = useState<Recharge | 'new' | null>(null)
  useCharging(asked.data?.autoRecharges.some(({ state }) => state === 'CHARGING') ?? false)
  return (
    <Loaded of={asked} skeleton={<SkeletonTable columns={5} lines={1} rows={1} />}>
      {({ autoRecharges, prices, features }) => {
        const featureOf = (id: string) => features.find((feature) => feature.id === id)
        const nameOf = ({ featureId }: Recharge) => featureOf(featureId)?.name ?? featureId
        const priceOf = ({ priceId }: Recharge) => prices.find(({ id }) => id === priceId)
        return (
          <Stack>
            <Group justify="space-between" align="flex-start">
              <div>
                <Title order={2} size="h4">
                  Automatic recharges
                </Title>
                {autoRecharges.length === 0 && (
                  <Text size="sm" c="dimmed">
                    Buy credits with the user's saved card whenever few are left.
                  </Text>
                )}
              </div>
              <Button
                variant="default"
                leftSection={<IconPlus size={16} aria-hidden />}
                disabled={!may('setAutoRecharge')}
                onClick={() => setOpen('new')}
              >
                Set up a recharge
              </Button>
            </Group>
            {autoRecharges.length > 0 && (
              <DataTable
                label="Automatic recharges"
                rows={autoRecharges}
                keyOf={({ featureId }) => featureId}
                columns={[
                  {
                    label: 'Feature',
                    cell: (recharge) => (
                      <AnchorLink
                        to="/apps/$app/features/$id"
                        params={{ app: appId, id: recharge.featureId }}
                        size="sm"
                      >
                        {nameOf(recharge)}
                      </AnchorLink>
                    ),
                  },
                  {
                    label: 'Buys',
                    cell: (recharge) => (
                      <>
                        below {number(recharge.below)}, up to {number(recharge.upTo)}
                        <Text size="xs" c="dimmed">
                          {packText(priceOf(recharge), featureOf(recharge.featureId)) ?? recharge.priceId}
                        </Text>
                      </>
                    ),
                  },
                  { label: 'This month', cell: (recharge) => spentText(recharge, priceOf(recharge)) },
                  {
                    label: 'Last charge',
                    cell: (recharge) => <LastCharge of={recharge} price={priceOf(recharge)} />,
                  },
                  { label: 'State', cell: (recharge) => <State of={recharge} /> },
                  {
                    label: 'Actions',
                    hiddenLabel: true,
                    right: true,
                    cell: (recharge) => (
                      <RowActions>
                        <Button
                          size="compact-sm"
                          variant="default"
                          disabled={!may('setAutoRecharge')}
                          aria-label={`${recharge.state === 'OFF' ? 'Turn on again' : 'Change'}: the automatic recharge of ${nameOf(recharge)}`}
                          onClick={() => setOpen(recharge)}
                        >
                          {recharge.state === 'OFF' ? 'Turn on again' : 'Change'}
                        </Button>
                        <RemoveRecharge
                          appId={appId}
                          userId={userId}
                          recharge={recharge}
                          name={nameOf(recharge)}
                        />
                      </RowActions>
                    ),
                  },
                ]}
              />
            )}
            <FormDialog
              opened={open !== null}
              onClose={() => setOpen(null)}
              title={
                open === 'new' || open === null ? 'Set up an automatic recharge' : titleOf(open, nameOf(open))
              }
            >
              {open !== null && (
                <Suspense fallback={<Loading />}>
                  <RechargeForm
                    appId={appId}
                    userId={userId}
                    features={features}
                    prices={prices.flatMap(({ credits, archivedAt, ...price }) =>
                      credits && archivedAt === null && price.amount > 0 ? [{ ...price, ...credits }] : [],
                    )}
                    taken={autoRecharges.map(({ featureId }) => featureId)}
                    recharge={open === 'new' ? null : open}
                    onDone={() => setOpen(null)}
                  />
                </Suspense>
              )}
            </FormDialog>
          </Stack>
        )
      }}
    </Loaded>
  )
}

/** Reloads what is shown until the charge has ended, and once more then: it has added a credit. */
function useCharging(isCharging: boolean): void {
  const client = useQueryClient()
  useEffect(() => {
    if (!isCharging) return
    const reload = () => void client.invalidateQueries()
    const timer = setInterval(reload, CHARGING_MS)
    return () => {
      clearInterval(timer)
      reload()
    }
  }, [isCharging, client])
}

const titleOf = ({ state }: Recharge, name: string): string =>
  state === 'OFF' ? `Turn on the automatic recharge of ${name}` : `Change the automatic recharge of ${name}`

/** "packs of 10,000 calls for $20.00" */
const packText = (price: Price | undefined, feature: Answer['features'][number] | undefined) =>
  price?.credits &&
  `packs of ${units(price.credits.units, feature?.unitLabel, feature?.unitLabelPlural)} for ${moneyText(price)}`

function spentText({ spent, maxSpendPerPeriod }: Recharge, price: Price | undefined): string {
  const money = (amount: number) => (price ? moneyText({ ...price, amount }) : number(amount))
  return maxSpendPerPeriod === null
    ? `${money(spent)}, no limit`
    : `${money(spent)} of at most ${money(maxSpendPerPeriod)}`
}

const OUTCOMES = { UNDER_WAY: 'in progress', PAID: 'paid', DECLINED: 'declined' } as const

function LastCharge({ of: { lastCharge }, price }: { of: Recharge; price: Price | undefined }) {
  if (lastCharge === null) return 'none yet'
  const { amount, state, startedAt } = lastCharge
  return (
    <>
      {price ? moneyText({ ...price, amount }) : number(amount)} {OUTCOMES[state]}
      <Text size="xs" c="dimmed">
        <When at={startedAt} time />
      </Text>
    </>
  )
}

function State({ of: { state, reason, waitsUntil } }: { of: Recharge }) {
  const { tone, text } = STATES[state]
  return (
    <>
      <Tag tone={tone}>{text}</Tag>
      {reason !== null && (
        <Text size="xs" className="break" mt="xxs">
          {reason}
        </Text>
      )}
      {waitsUntil !== null && (
        <Text size="xs" c="dimmed">
          Next attempt <When at={waitsUntil} time />
        </Text>
      )}
      {state === 'OFF' && (
        <Text size="xs" c="dimmed">
          Nothing is charged until it is turned on again.
        </Text>
      )}
    </>
  )
}
