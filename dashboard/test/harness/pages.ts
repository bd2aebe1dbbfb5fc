/** Every page behind the sign-in of an app that `furnish` has filled, with what an address can open on it. */
export const INSIDE = [
  '/apps/default',
  '/apps/clocked',
  '/apps/default/features',
  '/apps/default/features?make=1',
  '/apps/default/features?edit=calls',
  '/apps/default/features/calls',
  '/apps/default/features/calls?tab=users',
  '/apps/default/features/calls?tab=overrides',
  '/apps/default/features/calls?tab=denials',
  '/apps/default/features/calls?edit=1',
  '/apps/clocked/features',
  '/apps/default/packages',
  '/apps/default/packages?make=1',
  '/apps/default/packages/basic',
  '/apps/default/packages/basic?tab=prices',
  '/apps/default/packages/basic?tab=subscribers',
  '/apps/default/packages/basic?tab=versions',
  '/apps/default/packages/basic?tab=metadata',
  '/apps/default/packages/basic/publish',
  '/apps/default/features/calls?tab=prices',
  '/apps/default/features/calls?tab=pool',
  '/apps/default/users',
  '/apps/default/users?make=1',
  '/apps/default/users/ada?feature=calls',
  '/apps/default/users/ada?tab=credits',
  '/apps/default/users/ada?tab=caps',
  '/apps/default/users/ada?tab=subscriptions',
  '/apps/default/users/ada?tab=payments',
  '/apps/default/users/ada?tab=overrides',
  '/apps/default/users/ada?tab=ledger',
  '/apps/default/users/ada?tab=events',
  '/apps/default/users/ada?tab=details',
  '/apps/default/subscriptions',
  '/apps/sampled/subscriptions/demo-sub-1-plan',
  '/apps/default/import',
  '/apps/default/bulk',
  '/apps/default/revenue',
  '/apps/default/revenue?list=new',
  '/apps/default/revenue?list=failed',
  '/apps/default/billing',
  '/apps/default/billing?tab=providers',
  '/apps/default/billing?tab=notices',
  '/apps/default/keys',
  '/apps/default/webhooks',
  '/apps/default/webhooks?make=1',
  '/apps/default/webhooks/we_crm',
  '/apps/default/webhooks/we_crm?state=FAILED',
  '/apps/default/webhooks/we_crm?edit=1',
  '/apps/default/webhooks/we_old',
  '/apps/default/playground?user=ada&feature=calls',
  '/apps/default/graphiql',
  '/apps/default/rest?route=changeSubscription',
  '/apps/default/audit',
  '/apps',
  '/apps?show=archived',
  '/apps?copyTo=clocked&copyFrom=default',
  '/members',
  '/account',
]

export const OUTSIDE = ['/setup', '/sign-in', '/setup#token=x', '/invite#token=x', '/reset#token=x']

/** The one leads on to a page that is listed above; the other is any unknown address, for which see look.test.ts. */
const NOT_LISTED = ['/', '/$']

// A variable, so that the type check of the tests leaves the pages, which are written for a browser, to their own.
const ROUTER: string = '../../src/router.tsx'

/** The routes of the dashboard that none of these paths leads to. */
export async function routesWithout(paths: readonly string[]): Promise<string[]> {
  const { newRouter } = (await import(ROUTER)) as {
    newRouter: (client: null) => { routesByPath: Record<string, unknown> }
  }
  const routes = Object.keys(newRouter(null).routesByPath)
  if (routes.length === 0) throw new Error('the router has no routes')
  return routes.filter((route) => {
    const shape = new RegExp(`^${route.replaceAll(/\$\w+/g, '[^/]+')}$`)
    return !NOT_LISTED.includes(route) && !paths.some((path) => shape.test(path.split(/[?#]/)[0] ?? ''))
  })
}
