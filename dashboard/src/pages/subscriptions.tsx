import { Select, Stack } from '@mantine/core'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { graphql } from '../api/graphql.ts'
import { useAppId } from '../api/use-account.ts'
import { useAsk } from '../api/use-api.ts'
import { ExportLink } from '../ui/export-rows.tsx'
import { FormAlert } from '../ui/form-alert.tsx'
import { ListTools } from '../ui/list-tools.tsx'
import { Page } from '../ui/page.tsx'
import { SavedViews } from '../ui/saved-views.tsx'
import { SearchInput } from '../ui/search-input.tsx'
import { SUBSCRIPTION_STATES, type SubscriptionState } from '../ui/subscription-states.ts'
import { SubscriptionList } from './subscription-list.tsx'

const NAMES = graphql(`
  query PackageNames($appId: String!) {
    packages(appId: $appId) { id name }
  }
`)

type Filters = {
  user?: string
  package?: string
  state?: SubscriptionState
  provider?: 'stripe' | 'sandbox' | 'none'
  order?: Order
}

type Order = 'since' | '-since' | 'amount' | '-amount'

const ORDERS = { '-since': 'NEWEST', since: 'OLDEST', amount: 'AMOUNT', '-amount': 'AMOUNT_DESC' } as const

export function SubscriptionsPage() {
  const appId = useAppId()
  const filters = useSearch({ from: '/inside/apps/$app/subscriptions' })
  const navigate = useNavigate({ from: '/apps/$app/subscriptions' })
  const asked = useAsk(NAMES, { appId })
  const packages = asked.data?.packages ?? []
  // Another filter is another list: it starts at its first page.
  const set = (change: { [Name in keyof Filters]: Filters[Name] | undefined }) =>
    void navigate({ search: ({ after, at, ...rest }) => ({ ...rest, ...change }) as Filters, replace: true })
  const filter = {
    search: filters.user ?? null,
    packageId: filters.package ?? null,
    state: filters.state ?? null,
    provider: filters.provider === 'none' ? '' : (filters.provider ?? null),
  }
  const order = ORDERS[filters.order ?? '-since']
  return (
    <Page title="Subscriptions" about="Subscriptions of your users to plans and add-ons.">
      <FormAlert error={asked.error} />
      <Stack gap="sm">
        <ListTools>
          <SearchInput
            label="Search by user"
            value={filters.user ?? ''}
            onSearch={(text) => set({ user: text === '' ? undefined : text })}
          />
          <Select
            aria-label="Plan or add-on"
            placeholder="Any plan or add-on"
            w={180}
            clearable
            searchable
            data={packages.map(({ id, name }) => ({ value: id, label: name }))}
            value={filters.package ?? null}
            onChange={(id) => set({ package: id ?? undefined })}
          />
          <Select
            aria-label="Status"
            placeholder="Any status"
            w={160}
            clearable
            data={SUBSCRIPTION_STATES}
            value={filters.state ?? null}
            onChange={(state) => set({ state: (state ?? undefined) as Filters['state'] })}
          />
          <Select
            aria-label="Provider"
            placeholder="Any provider"
            w={160}
            clearable
            data={[
              { value: 'stripe', label: 'Stripe' },
              { value: 'sandbox', label: 'Sandbox' },
              { value: 'none', label: 'None' },
            ]}
            value={filters.provider ?? null}
            onChange={(provider) => set({ provider: (provider ?? undefined) as Filters['provider'] })}
          />
          <SavedViews appId={appId} list="subscriptions" />
          <ExportLink
            list="subscriptions"
            query={{ app: appId, ...filter, order: order === 'OLDEST' ? order : null }}
          />
        </ListTools>
        <SubscriptionList
          appId={appId}
          filter={filter}
          order={order}
          sorting={{
            now: filters.order ?? '-since',
            set: (order) => set({ order: order === '-since' ? undefined : (order as Order) }),
          }}
        />
      </Stack>
    </Page>
  )
}
