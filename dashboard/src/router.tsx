import type { QueryClient } from '@tanstack/react-query'
import { createRouter } from '@tanstack/react-router'
import {
  account,
  app,
  apps,
  audit,
  billing,
  bulk,
  features,
  graphiql,
  home,
  importing,
  inside,
  invite,
  keys,
  members,
  nowhere,
  oneFeature,
  onePackage,
  oneSubscription,
  packages,
  playground,
  publish,
  reset,
  rest,
  revenue,
  root,
  setup,
  signIn,
  start,
  subscriptions,
  user,
  users,
  webhook,
  webhooks,
} from './routes.tsx'
import { parseSearch, stringifySearch } from './search.ts'
import { PageFailed } from './shell/page-failed.tsx'
import { PageLoading } from './shell/page-loading.tsx'
import { NotFound } from './ui/not-found.tsx'

const tree = root.addChildren([
  signIn,
  setup,
  invite,
  reset,
  inside.addChildren([
    start,
    apps,
    members,
    account,
    nowhere,
    app.addChildren([
      home,
      features,
      oneFeature,
      packages,
      onePackage,
      publish,
      users,
      user,
      importing,
      bulk,
      subscriptions,
      oneSubscription,
      revenue,
      billing,
      keys,
      webhooks,
      webhook,
      playground,
      graphiql,
      rest,
      audit,
    ]),
  ]),
])

export function newRouter(client: QueryClient) {
  return createRouter({
    routeTree: tree,
    context: { client },
    defaultPreload: 'intent',
    defaultErrorComponent: PageFailed,
    defaultNotFoundComponent: NotFound,
    defaultPendingComponent: PageLoading,
    defaultPendingMs: 200,
    scrollRestoration: true,
    parseSearch,
    stringifySearch,
  })
}
