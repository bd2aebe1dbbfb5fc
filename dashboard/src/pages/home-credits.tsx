import { Group, Stack, Text, Title } from '@mantine/core'
import { graphql, type ResultOf } from '../api/graphql.ts'
import { useAsk } from '../api/use-api.ts'
import { DataTable } from '../ui/data-table.tsx'
import { AnchorLink } from '../ui/links.tsx'
import { number } from '../ui/number.ts'
import { moneyText } from '../ui/price.ts'
import { When } from '../ui/when.tsx'

const CREDITS = graphql(`
  query CreditFigures($appId: String!) {
    creditFigures(appId: $appId) {
      features {
        featureId featureName sold soldWithoutAmount burnt expiring
        money { provider currency decimals amount }
      }
      otherFeatures soldComplete expiringComplete burntFrom
    }
  }
`)
type Figures = NonNullable<ResultOf<typeof CREDITS>['creditFigures']>
type Row = Figures['features'][number]

/** Credits sold, burnt and expiring, in an app that has any. */
export function HomeCredits({ appId }: { appId: string }) {
  const { data } = useAsk(CREDITS, { appId }, { refetchInterval: 60_000 })
  const figures = data?.creditFigures
  if (!figures) return null
  const { features, otherFeatures, soldComplete, expiringComplete, burntFrom } = figures
  const atLeast = (value: number, complete: boolean) => `${complete ? '' : 'at least '}${number(value)}`
  return (
    <Stack gap="xs">
      <Group justify="space-between">
        <Title order={2}>Credits</Title>
        <AnchorLink
          to="/apps/$app/revenue"
          params={{ app: appId }}
          search={{ range: '30', list: 'paid' }}
          size="sm"
        >
          Payments
        </AnchorLink>
      </Group>
      <DataTable
        label="Credits by feature"
        rows={features}
        keyOf={({ featureId }) => featureId}
        columns={[
          {
            label: 'Feature',
            cell: ({ featureId, featureName }) => (
              <AnchorLink to="/apps/$app/features/$id" params={{ app: appId, id: featureId }}>
                {featureName}
              </AnchorLink>
            ),
          },
          {
            label: 'Sold, last 30 days',
            right: true,
            cell: (row) =>
              row.sold === 0 ? (
                number(0)
              ) : (
                <>
                  <AnchorLink
                    to="/apps/$app/features/$id"
                    params={{ app: appId, id: row.featureId }}
                    search={{ tab: 'prices' }}
                  >
                    {atLeast(row.sold, soldComplete)}
                  </AnchorLink>
                  <Text size="xs" c="dimmed">
                    {moneyOf(row)}
                  </Text>
                </>
              ),
          },
          {
            label: 'Used, last 30 days',
            right: true,
            cell: ({ burnt }) => (burnt === null ? 'being added up' : number(burnt)),
          },
          {
            label: 'Expiring, next 30 days',
            right: true,
            cell: ({ expiring }) => atLeast(expiring, expiringComplete),
          },
        ]}
      />
      {otherFeatures > 0 && (
        <Text size="sm" c="dimmed">
          {otherFeatures === 1 ? '1 more feature has' : `${number(otherFeatures)} more features have`}{' '}
          credits.
        </Text>
      )}
      {burntFrom !== null && (
        <Text size="sm" c="dimmed">
          Used units are counted since <When at={burntFrom} time />.
        </Text>
      )}
    </Stack>
  )
}

function moneyOf({ money, soldWithoutAmount }: Row): string {
  const amounts = money.map(
    ({ provider, ...amount }) => `${moneyText(amount)}${provider === 'sandbox' ? ' in the sandbox' : ''}`,
  )
  const unknown = soldWithoutAmount > 0 ? [`payment of ${number(soldWithoutAmount)} unknown`] : []
  return [...amounts, ...unknown].join(' · ')
}
