import { Group, Text } from '@mantine/core'
import { graphql, type ResultOf } from '../api/graphql.ts'
import type { useMay } from '../api/use-account.ts'
import { AnchorLink, MenuItemLink } from '../ui/links.tsx'
import { MoreMenu } from '../ui/more-menu.tsx'
import { StatusTag } from '../ui/status-tag.tsx'
import { UserLink } from '../ui/user-link.tsx'
import { When } from '../ui/when.tsx'

export const USERS = graphql(`
  query Users($appId: String!, $search: String, $packageId: String, $state: SubscriptionState, $order: UserOrder, $after: String) {
    users(appId: $appId, search: $search, packageId: $packageId, state: $state, order: $order, after: $after) {
      next
      total { count more }
      rows {
        id name email billingId createdAt packages { id name isAddon }
        plan { id status replaced billing { status } nextEvent { kind } }
      }
    }
  }
`)
type User = NonNullable<ResultOf<typeof USERS>['users']>['rows'][number]

/** The columns of the list of users. */
export const userColumns = (appId: string, may: ReturnType<typeof useMay>) => [
  {
    label: 'User',
    sort: 'name',
    cell: ({ id, name, email }: User) => <UserLink appId={appId} id={id} name={name ?? email} />,
  },
  { label: 'Email', sort: 'email', cell: ({ email }: User) => email },
  {
    label: 'Plan',
    cell: ({ packages }: User) => (
      <Group gap="xs">
        {packages.every(({ isAddon }) => isAddon) && (
          <Text size="sm" c="dimmed">
            No plan
          </Text>
        )}
        {packages.map(({ id, name }) => (
          <AnchorLink key={id} size="sm" to="/apps/$app/packages/$id" params={{ app: appId, id }}>
            {name}
          </AnchorLink>
        ))}
      </Group>
    ),
  },
  { label: 'Status', cell: ({ plan }: User) => plan && <StatusTag of={plan} /> },
  {
    label: 'Billing id',
    wide: true,
    cell: ({ billingId }: User) => (
      <Text size="xs" ff="monospace">
        {billingId}
      </Text>
    ),
  },
  {
    label: 'Since',
    wide: true,
    sort: 'since',
    sortsDown: true,
    cell: ({ createdAt }: User) => <When at={createdAt} />,
  },
  {
    label: 'Actions',
    hiddenLabel: true,
    right: true,
    cell: ({ id, name, plan }: User) => (
      <MoreMenu label={`Actions for ${name ?? id}`} size="sm" actions={[]}>
        <MenuItemLink
          to="/apps/$app/users/$id"
          params={{ app: appId, id }}
          search={{ open: plan ? 'change' : 'subscribe' }}
          disabled={!may(plan ? 'changeSubscription' : 'subscribe')}
        >
          {plan ? 'Change plan' : 'Subscribe'}
        </MenuItemLink>
        <MenuItemLink
          to="/apps/$app/users/$id"
          params={{ app: appId, id }}
          search={{ open: 'trial' }}
          disabled={!may('startTrial')}
        >
          Start a trial
        </MenuItemLink>
        <MenuItemLink
          to="/apps/$app/users/$id"
          params={{ app: appId, id }}
          search={{ open: 'link' }}
          disabled={!may('generateSubscriptionLink')}
        >
          Send payment link
        </MenuItemLink>
        <MenuItemLink to="/apps/$app/users/$id" params={{ app: appId, id }} search={{ tab: 'overrides' }}>
          Overrides
        </MenuItemLink>
        <MenuItemLink to="/apps/$app/audit" params={{ app: appId }} search={{ subject: id }}>
          Audit log
        </MenuItemLink>
      </MoreMenu>
    ),
  },
]
