import { Button, SegmentedControl, Select, Stack, Text } from '@mantine/core'
import { IconPlus } from '@tabler/icons-react'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { useAppId, useMay } from '../api/use-account.ts'
import { useAsk } from '../api/use-api.ts'
import { FormDialog } from '../forms/form-dialog.tsx'
import { NewPackage } from '../forms/new-package-form.tsx'
import { adminCall, curl } from '../snippets.ts'
import { CodeBlock } from '../ui/code-block.tsx'
import { DataTable } from '../ui/data-table.tsx'
import { Empty } from '../ui/empty.tsx'
import { ExportRows } from '../ui/export-rows.tsx'
import { ListTools } from '../ui/list-tools.tsx'
import { Loaded } from '../ui/loaded.tsx'
import { Page } from '../ui/page.tsx'
import { Pager } from '../ui/pager.tsx'
import { moneyText, priceText } from '../ui/price.ts'
import { SearchInput } from '../ui/search-input.tsx'
import { SkeletonTable } from '../ui/skeletons.tsx'
import { slice } from '../ui/slice.ts'
import { sorted } from '../ui/sorting.ts'
import { Total } from '../ui/total.tsx'
import {
  FIGURES,
  type Figures,
  mrrOf,
  PACKAGES,
  type Package,
  packageColumns,
  subscribersOf,
} from './package-columns.tsx'

type Filters = {
  search?: string
  status?: 'draft' | 'published' | 'archived'
  type?: 'base' | 'addon'
  order?: Order
}

type Column = 'name' | 'status' | 'features' | 'price' | 'subscribers' | 'mrr' | 'changed'
type Order = Column | `-${Column}`

export function PackagesPage() {
  const appId = useAppId()
  const may = useMay()
  const { make, from, after, ...filters } = useSearch({ from: '/inside/apps/$app/packages' })
  const navigate = useNavigate({ from: '/apps/$app/packages' })
  const asked = useAsk(PACKAGES, { appId, search: filters.search ?? null }, { keepPrevious: true })
  // The table does not wait for them.
  const figures = useAsk(FIGURES, { appId }).data?.revenue?.plans
  const close = () => void navigate({ search: ({ make, from, ...rest }) => rest })
  // Another filter is another list: it starts at its first page.
  const set = (change: { [Name in keyof Filters]: Filters[Name] | undefined }) =>
    void navigate({ search: ({ after, ...rest }) => ({ ...rest, ...change }) as Filters, replace: true })
  const open = (id: string) => void navigate({ to: '/apps/$app/packages/$id', params: { app: appId, id } })
  const newOne = (
    <Button
      leftSection={<IconPlus size={16} aria-hidden />}
      onClick={() => void navigate({ search: (s) => ({ ...s, make: '1' }) })}
      disabled={!may('createPackage')}
    >
      New package
    </Button>
  )
  return (
    <Page
      title="Packages"
      about="Plans and add-ons, with their features, limits and prices."
      actions={newOne}
    >
      <Stack gap="sm">
        <ListTools>
          <SearchInput
            label="Search by id or name"
            value={filters.search ?? ''}
            onSearch={(text) => set({ search: text === '' ? undefined : text })}
          />
          <Select
            aria-label="Type"
            placeholder="Any type"
            w={150}
            clearable
            data={[
              { value: 'base', label: 'Plans' },
              { value: 'addon', label: 'Add-ons' },
            ]}
            value={filters.type ?? null}
            onChange={(type) => set({ type: (type ?? undefined) as Filters['type'] })}
          />
          <SegmentedControl
            w="fit-content"
            aria-label="Status"
            value={filters.status ?? 'all'}
            onChange={(value) =>
              set({ status: value === 'all' ? undefined : (value as NonNullable<Filters['status']>) })
            }
            data={[
              { value: 'all', label: 'All' },
              { value: 'published', label: 'Published' },
              { value: 'draft', label: 'With a draft' },
              { value: 'archived', label: 'Archived' },
            ]}
          />
          <ExportRows
            name="packages"
            rows={listed(asked.data?.packages ?? [], filters, figures)}
            columns={[
              ['id', ({ id }) => id],
              ['name', ({ name }) => name],
              ['status', ({ status, archived }) => (archived ? 'ARCHIVED' : status)],
              ['type', ({ isAddon }) => (isAddon ? 'add-on' : 'plan')],
              ['features', ({ grants }) => grants.length],
              ['prices', ({ prices }) => prices.map(priceText).join(', ')],
              ['subscribers', ({ id }) => subscribersOf(id, figures)],
              ['mrr', ({ id }) => mrrOf(id, figures).map(moneyText).join(' + ')],
              ['updatedAt', ({ updatedAt }) => updatedAt],
            ]}
          />
        </ListTools>
        <Loaded of={asked} skeleton={<SkeletonTable columns={5} total />}>
          {({ packages }) => {
            const shown = listed(packages, filters, figures)
            const page = slice(shown, after)
            return packages.length === 0 && filters.search === undefined ? (
              <Empty
                title="Create your first package"
                action={newOne}
                code={<CodeBlock label="The same with curl" text={curl(EXAMPLE, appId)} />}
              >
                A package groups features with a limit for each. A user has one plan and any number of
                add-ons. A new package is a draft; publish it to let people subscribe.
              </Empty>
            ) : shown.length === 0 ? (
              <Text c="dimmed">
                {filters.search === undefined
                  ? 'No packages match.'
                  : `No matching package has “${filters.search}” in its id or name.`}
              </Text>
            ) : (
              <>
                <Total
                  of={{ count: shown.length, more: false }}
                  one="package"
                  many="packages"
                  page={{ before: page.before, rows: page.rows.length }}
                />
                <DataTable
                  label="Packages"
                  rows={page.rows}
                  keyOf={({ id }) => id}
                  columns={packageColumns(appId, figures)}
                  sorting={{ now: filters.order, set: (order) => set({ order: order as Order }) }}
                />
                <Pager after={after} next={page.next} />
              </>
            )
          }}
        </Loaded>
      </Stack>
      <FormDialog
        opened={make !== undefined}
        onClose={close}
        title={from === undefined ? 'New package' : `Duplicate ${from}`}
      >
        <NewPackage appId={appId} from={from} onCancel={close} onDone={open} />
      </FormDialog>
    </Page>
  )
}

/** The server sends them oldest first. */
function listed(
  packages: readonly Package[],
  { status, type, order }: Filters,
  figures: Figures,
): readonly Package[] {
  const shown = packages.filter(
    (p) => shows(p, status ?? 'all') && (type === undefined || p.isAddon === (type === 'addon')),
  )
  return sorted(shown, order, {
    name: ({ name }) => name,
    status: ({ status, draft }) => `${status} ${draft === null ? '' : 'draft'}`,
    features: ({ grants }) => grants.length,
    price: ({ prices: [price] }) => price && price.amount / 10 ** price.decimals,
    subscribers: ({ id }) => subscribersOf(id, figures) ?? null,
    // Amounts in different currencies are not compared: those of the first one are.
    mrr: ({ id }) => {
      const [mrr] = mrrOf(id, figures)
      return mrr && mrr.amount / 10 ** mrr.decimals
    },
    changed: ({ updatedAt }) => updatedAt,
  })
}

function shows(p: Package, status: string): boolean {
  if (p.archived) return status === 'archived'
  if (status === 'published') return p.status === 'PUBLISHED'
  if (status === 'draft') return p.status === 'DRAFT' || p.draft !== null
  return status === 'all'
}

const EXAMPLE = adminCall(
  'mutation ($input: CreatePackageInput!) { createPackage(input: $input) { id status } }',
  { input: { id: 'pro', name: 'Pro', features: [{ id: 'api-calls', entitlement: { limit: 1000 } }] } },
)
