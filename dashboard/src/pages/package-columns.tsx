import { Group, Text } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { graphql, type ResultOf } from '../api/graphql.ts'
import { DuplicateItem, PackageRemoval } from '../forms/package-removal.tsx'
import { MenuItemLink } from '../ui/links.tsx'
import { number } from '../ui/number.ts'
import { PackageStatusTag } from '../ui/package-status.tsx'
import { moneyText, priceText } from '../ui/price.ts'
import { Tag } from '../ui/tag.tsx'
import { When } from '../ui/when.tsx'

export const PACKAGES = graphql(`
  query Packages($appId: String!, $search: String) {
    packages(appId: $appId, search: $search) {
      id name status isAddon archived updatedAt
      draft { name }
      scheduled { at problem }
      grants { id }
      prices { id amount decimals currency interval }
    }
  }
`)
export const FIGURES = graphql(`
  query PackageFigures($appId: String!) {
    revenue(appId: $appId) {
      plans { packageId active trialing pastDue mrr { provider currency decimals amount } }
    }
  }
`)
export type Figures = NonNullable<ResultOf<typeof FIGURES>['revenue']>['plans'] | undefined
export type Package = ResultOf<typeof PACKAGES>['packages'][number]

/** Undefined: not counted yet. */
export function subscribersOf(id: string, figures: Figures): number | undefined {
  const found = figures?.find(({ packageId }) => packageId === id)
  return figures && (found ? found.active + found.trialing + found.pastDue : 0)
}

export const mrrOf = (id: string, figures: Figures) =>
  figures?.find(({ packageId }) => packageId === id)?.mrr ?? []

/** The columns of the list of packages. */
export const packageColumns = (appId: string, figures: Figures) => [
  {
    label: 'Name',
    sort: 'name',
    cell: ({ id, name }: Package) => (
      <>
        <Link to="/apps/$app/packages/$id" params={{ app: appId, id }} className="row-link">
          {name}
        </Link>
        <Text size="xs" c="dimmed" ff="monospace">
          {id}
        </Text>
      </>
    ),
  },
  {
    label: 'Status',
    sort: 'status',
    cell: (p: Package) => (
      <Group gap="xs">
        <PackageStatusTag status={p.status} hasDraft={p.draft !== null} scheduled={p.scheduled} />
        {p.isAddon && <Tag tone="accent">Add-on</Tag>}
      </Group>
    ),
  },
  {
    label: 'Features',
    right: true,
    wide: true,
    sort: 'features',
    sortsDown: true,
    cell: ({ grants }: Package) => number(grants.length),
  },
  {
    label: 'Price',
    sort: 'price',
    cell: ({ prices }: Package) =>
      prices.map(priceText).join(', ') || (
        <Text size="sm" c="dimmed">
          none
        </Text>
      ),
  },
  {
    label: 'Subscribers',
    right: true,
    sort: 'subscribers',
    sortsDown: true,
    cell: ({ id }: Package) => {
      const count = subscribersOf(id, figures)
      return count === undefined ? '…' : number(count)
    },
  },
  {
    label: 'MRR',
    right: true,
    sort: 'mrr',
    sortsDown: true,
    cell: ({ id }: Package) =>
      figures === undefined ? '…' : mrrOf(id, figures).map(moneyText).join(' + ') || '–',
  },
  {
    label: 'Changed',
    wide: true,
    sort: 'changed',
    sortsDown: true,
    cell: ({ updatedAt }: Package) => <When at={updatedAt} />,
  },
  {
    label: 'Actions',
    hiddenLabel: true,
    right: true,
    cell: (p: Package) => (
      <PackageRemoval appId={appId} package={p} size="sm">
        <MenuItemLink
          to="/apps/$app/packages/$id"
          params={{ app: appId, id: p.id }}
          search={{ tab: 'prices' }}
        >
          Prices
        </MenuItemLink>
        <MenuItemLink
          to="/apps/$app/packages/$id"
          params={{ app: appId, id: p.id }}
          search={{ tab: 'subscribers' }}
        >
          Subscribers
        </MenuItemLink>
        <DuplicateItem appId={appId} id={p.id} />
      </PackageRemoval>
    ),
  },
]
