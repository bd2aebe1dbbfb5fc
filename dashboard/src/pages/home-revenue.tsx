import { Group, Stack, Title } from '@mantine/core'
import { useAsk } from '../api/use-api.ts'
import { AnchorLink } from '../ui/links.tsx'
import { MoneyFigures, MovementFigures } from './revenue-figures.tsx'
import { REVENUE } from './revenue-query.ts'

/** The last 30 days in figures, once there are subscriptions. */
export function HomeRevenue({ appId }: { appId: string }) {
  const { data } = useAsk(REVENUE, { appId, days: 30, fresh: false })
  const revenue = data?.revenue
  if (!revenue || (revenue.plans.length === 0 && revenue.cancelled === 0)) return null
  return (
    <Stack gap="xs">
      <Group justify="space-between">
        <Title order={2}>Revenue, last 30 days</Title>
        <AnchorLink to="/apps/$app/revenue" params={{ app: appId }} size="sm">
          All figures
        </AnchorLink>
      </Group>
      <Stack gap="md">
        {(revenue.mrr.length > 0 || revenue.payments.length > 0) && (
          <MoneyFigures appId={appId} revenue={revenue} range="30" />
        )}
        <MovementFigures appId={appId} revenue={revenue} range="30" />
      </Stack>
    </Stack>
  )
}
