import { Box } from '@mantine/core'
import type { QueryClient } from '@tanstack/react-query'
import { createRootRouteWithContext, createRoute, Outlet, redirect } from '@tanstack/react-router'
import { useEffect } from 'react'
import { appsOf, whoIsThere } from './api/session.ts'
import { lazyPage } from './lazy-page.ts'
import { fromPath, toPath } from './path-ids.ts'
import { choice, text } from './search.ts'
import { AppPages } from './shell/app-pages.tsx'
import { rememberedApp } from './shell/last-app.ts'
import { CardsLoading } from './shell/page-loading.tsx'
import { Shell } from './shell/shell.tsx'
import { ShellLoading } from './shell/shell-loading.tsx'
import { NotFound } from './ui/not-found.tsx'
import { bothWays } from './ui/sorting.ts'
import { SUBSCRIPTION_STATES } from './ui/subscription-states.ts'

interface Context {
  client: QueryClient
}

/** What index.html shows goes when there is something else to see. */
function Root() {
  useEffect(() => document.getElementById('starting')?.remove(), [])
  return <Outlet />
}

const NotFoundAlone = () => (
  <Box p="md">
    <NotFound />
  </Box>
)

const STATES = SUBSCRIPTION_STATES.map(({ value }) => value)

const OF_APP = {
  parse: ({ app }: { app: string }) => ({ app: fromPath(app) }),
  stringify: ({ app }: { app: string }) => ({ app: toPath(app) }),
}
const OF_ID = {
  parse: ({ id }: { id: string }) => ({ id: fromPath(id) }),
  stringify: ({ id }: { id: string }) => ({ id: toPath(id) }),
}

export const root = createRootRouteWithContext<Context>()({
  component: Root,
  notFoundComponent: NotFoundAlone,
})

export const signIn = createRoute({
  getParentRoute: () => root,
  path: 'sign-in',
  validateSearch: (search) => text(search, 'to'),
  component: lazyPage(() => import('./pages/sign-in.tsx'), 'SignInPage'),
})
export const setup = createRoute({
  getParentRoute: () => root,
  path: 'setup',
  component: lazyPage(() => import('./pages/setup.tsx'), 'SetupPage'),
})
export const invite = createRoute({
  getParentRoute: () => root,
  path: 'invite',
  component: lazyPage(() => import('./pages/invite.tsx'), 'InvitePage'),
})
export const reset = createRoute({
  getParentRoute: () => root,
  path: 'reset',
  component: lazyPage(() => import('./pages/reset.tsx'), 'ResetPage'),
})

/** Everything behind the sign-in. */
export const inside = createRoute({
  getParentRoute: () => root,
  id: 'inside',
  component: Shell,
  pendingComponent: ShellLoading,
  async beforeLoad({ context, location }) {
    if (!(await whoIsThere(context.client))) {
      throw redirect({ to: '/sign-in', search: location.pathname === '/' ? {} : { to: location.href } })
    }
  },
})
/** An address that leads to nothing: the menu stays. */
export const nowhere = createRoute({
  getParentRoute: () => inside,
  path: '$',
  component: NotFound,
})
export const start = createRoute({
  getParentRoute: () => inside,
  path: '/',
  async beforeLoad({ context }) {
    throw redirect({ to: '/apps/$app', params: { app: rememberedApp(await appsOf(context.client)) } })
  },
})
export const apps = createRoute({
  getParentRoute: () => inside,
  path: 'apps',
  validateSearch: (search) => ({
    ...text(search, 'copyTo', 'copyFrom', 'make'),
    ...choice(search, 'show', ['archived']),
  }),
  component: lazyPage(() => import('./pages/apps.tsx'), 'AppsPage'),
  pendingComponent: CardsLoading,
})
export const members = createRoute({
  getParentRoute: () => inside,
  path: 'members',
  validateSearch: (search) => ({
    ...text(search, 'search', 'make', 'after'),
    ...choice(search, 'role', ['OWNER', 'EDITOR', 'VIEWER']),
    ...choice(search, 'order', bothWays('email', 'role', 'seen', 'since')),
  }),
  component: lazyPage(() => import('./pages/members.tsx'), 'MembersPage'),
})
export const account = createRoute({
  getParentRoute: () => inside,
  path: 'account',
  component: lazyPage(() => import('./pages/account.tsx'), 'AccountPage'),
})

export const app = createRoute({
  getParentRoute: () => inside,
  path: 'apps/$app',
  params: OF_APP,
  component: AppPages,
})
export const home = createRoute({
  getParentRoute: () => app,
  path: '/',
  validateSearch: (search) => choice(search, 'range', ['hour', 'day', 'month']),
  component: lazyPage(() => import('./pages/home.tsx'), 'HomePage'),
  pendingComponent: CardsLoading,
})
export const features = createRoute({
  getParentRoute: () => app,
  path: 'features',
  validateSearch: (search) => ({
    ...text(search, 'search', 'edit', 'make', 'after'),
    ...choice(search, 'show', ['archived']),
    ...choice(search, 'type', ['binary', 'consumable']),
    ...choice(search, 'order', bothWays('name', 'type', 'packages', 'usage', 'denials')),
  }),
  component: lazyPage(() => import('./pages/features.tsx'), 'FeaturesPage'),
})
export const oneFeature = createRoute({
  getParentRoute: () => app,
  path: 'features/$id',
  params: OF_ID,
  validateSearch: (search) => ({
    ...choice(search, 'tab', ['users', 'overrides', 'denials', 'prices', 'pool']),
    ...choice(search, 'range', ['day']),
    ...text(search, 'package', 'after', 'edit', 'from', 'to'),
  }),
  component: lazyPage(() => import('./pages/feature.tsx'), 'FeaturePage'),
})
export const packages = createRoute({
  getParentRoute: () => app,
  path: 'packages',
  validateSearch: (search) => ({
    ...choice(search, 'status', ['draft', 'published', 'archived']),
    ...choice(search, 'type', ['base', 'addon']),
    ...choice(
      search,
      'order',
      bothWays('name', 'status', 'features', 'price', 'subscribers', 'mrr', 'changed'),
    ),
    ...text(search, 'search', 'make', 'from', 'after'),
  }),
  component: lazyPage(() => import('./pages/packages.tsx'), 'PackagesPage'),
})
export const onePackage = createRoute({
  getParentRoute: () => app,
  path: 'packages/$id',
  params: OF_ID,
  validateSearch: (search) => ({
    ...choice(search, 'tab', ['content', 'prices', 'subscribers', 'versions', 'metadata']),
    ...choice(search, 'show', ['current', 'archived']),
    ...choice(search, 'order', bothWays('amount', 'provider', 'id', 'state')),
    ...text(search, 'after', 'at'),
  }),
  component: lazyPage(() => import('./pages/package.tsx'), 'PackagePage'),
})
export const publish = createRoute({
  getParentRoute: () => app,
  path: 'packages/$id/publish',
  params: OF_ID,
  validateSearch: (search) => ({
    ...choice(search, 'for', ['ALL', 'NEW_ONLY', 'AT_PERIOD_END']),
    ...text(search, 'after'),
  }),
  component: lazyPage(() => import('./pages/publish.tsx'), 'PublishPage'),
})
export const users = createRoute({
  getParentRoute: () => app,
  path: 'users',
  validateSearch: (search) => ({
    ...text(search, 'search', 'package', 'after', 'at', 'make'),
    ...choice(search, 'state', STATES),
    ...choice(search, 'order', bothWays('name', 'email', 'since')),
  }),
  component: lazyPage(() => import('./pages/users.tsx'), 'UsersPage'),
})
export const importing = createRoute({
  getParentRoute: () => app,
  path: 'import',
  validateSearch: (search) => text(search, 'id', 'outcome', 'after'),
  component: lazyPage(() => import('./pages/import.tsx'), 'ImportPage'),
})
export const bulk = createRoute({
  getParentRoute: () => app,
  path: 'bulk',
  validateSearch: (search) => ({
    ...text(search, 'id', 'after'),
    ...choice(search, 'outcome', ['CHANGE', 'SKIP', 'DONE', 'REFUSED', 'UNDONE', 'KEPT']),
  }),
  component: lazyPage(() => import('./pages/bulk-change.tsx'), 'BulkChangePage'),
})
export const user = createRoute({
  getParentRoute: () => app,
  path: 'users/$id',
  params: OF_ID,
  validateSearch: (search) => ({
    ...choice(search, 'tab', [
      'usage',
      'credits',
      'caps',
      'subscriptions',
      'payments',
      'overrides',
      'ledger',
      'events',
      'details',
    ]),
    ...choice(search, 'open', ['subscribe', 'change', 'trial', 'link']),
    ...text(search, 'feature', 'type', 'after', 'at', 'from', 'to'),
  }),
  component: lazyPage(() => import('./pages/user.tsx'), 'UserPage'),
})
export const subscriptions = createRoute({
  getParentRoute: () => app,
  path: 'subscriptions',
  validateSearch: (search) => ({
    ...text(search, 'user', 'package', 'after', 'at'),
    ...choice(search, 'state', STATES),
    ...choice(search, 'provider', ['stripe', 'sandbox', 'none']),
    ...choice(search, 'order', bothWays('since', 'amount')),
  }),
  component: lazyPage(() => import('./pages/subscriptions.tsx'), 'SubscriptionsPage'),
})
export const oneSubscription = createRoute({
  getParentRoute: () => app,
  path: 'subscriptions/$id',
  params: OF_ID,
  component: lazyPage(() => import('./pages/subscription.tsx'), 'SubscriptionPage'),
})
export const revenue = createRoute({
  getParentRoute: () => app,
  path: 'revenue',
  validateSearch: (search) => ({
    ...choice(search, 'range', ['7', '30', '90', '365']),
    ...choice(search, 'list', [
      ...(['mrr', 'paid', 'refunded', 'failed'] as const),
      ...(['new', 'changed', 'cancelled', 'past-due', 'trialing'] as const),
    ]),
    ...text(search, 'after', 'from', 'to'),
  }),
  component: lazyPage(() => import('./pages/revenue.tsx'), 'RevenuePage'),
  pendingComponent: CardsLoading,
})
export const billing = createRoute({
  getParentRoute: () => app,
  path: 'billing',
  validateSearch: (search) => ({
    ...choice(search, 'tab', ['templates', 'providers', 'notices']),
    ...choice(search, 'show', ['archived']),
    ...choice(search, 'order', bothWays('name', 'packages', 'price', 'state')),
    ...text(search, 'search', 'state', 'after', 'notice'),
  }),
  component: lazyPage(() => import('./pages/billing.tsx'), 'BillingPage'),
})
export const keys = createRoute({
  getParentRoute: () => app,
  path: 'keys',
  validateSearch: (search) => ({
    ...text(search, 'search', 'make', 'after'),
    ...choice(search, 'show', ['working', 'ended']),
    ...choice(search, 'order', bothWays('name', 'scope', 'created', 'used', 'state')),
  }),
  component: lazyPage(() => import('./pages/keys.tsx'), 'KeysPage'),
})
export const webhooks = createRoute({
  getParentRoute: () => app,
  path: 'webhooks',
  validateSearch: (search) => text(search, 'make'),
  component: lazyPage(() => import('./pages/webhooks.tsx'), 'WebhooksPage'),
})
export const webhook = createRoute({
  getParentRoute: () => app,
  path: 'webhooks/$id',
  params: OF_ID,
  validateSearch: (search) => ({
    ...choice(search, 'state', ['PENDING', 'SUCCEEDED', 'FAILED']),
    ...text(search, 'after', 'edit', 'delivery'),
  }),
  component: lazyPage(() => import('./pages/webhook.tsx'), 'WebhookPage'),
})
export const playground = createRoute({
  getParentRoute: () => app,
  path: 'playground',
  validateSearch: (search) => text(search, 'user', 'feature', 'delta', 'entities'),
  component: lazyPage(() => import('./pages/playground.tsx'), 'PlaygroundPage'),
})
export const graphiql = createRoute({
  getParentRoute: () => app,
  path: 'graphiql',
  component: lazyPage(() => import('./pages/graphiql.tsx'), 'GraphiqlPage'),
})
export const rest = createRoute({
  getParentRoute: () => app,
  path: 'rest',
  validateSearch: (search) => text(search, 'route', 'search'),
  component: lazyPage(() => import('./pages/rest.tsx'), 'RestPage'),
})
export const audit = createRoute({
  getParentRoute: () => app,
  path: 'audit',
  validateSearch: (search) => ({
    ...text(search, 'after', 'who', 'what', 'subject', 'from', 'to'),
    ...choice(search, 'of', ['app', 'all']),
    ...choice(search, 'by', ['MEMBER', 'API_KEY', 'PROVIDER', 'VISITOR', 'SERVICE']),
  }),
  component: lazyPage(() => import('./pages/audit.tsx'), 'AuditPage'),
})
