/** The page of the documentation about each page of the dashboard, by its route. */
export const HELP: Record<string, string> = {
  '/apps/$app': 'dashboard',
  '/apps/$app/features': 'concepts/catalogue',
  '/apps/$app/features/$id': 'concepts/catalogue',
  '/apps/$app/packages': 'concepts/catalogue',
  '/apps/$app/packages/$id': 'concepts/catalogue',
  '/apps/$app/packages/$id/publish': 'guides/migrate-a-plan',
  '/apps/$app/users': 'dashboard',
  '/apps/$app/users/$id': 'guides/exceptions',
  '/apps/$app/import': 'dashboard#importing-users',
  '/apps/$app/bulk': 'dashboard#bulk-changes',
  '/apps/$app/subscriptions': 'guides/change-plans',
  '/apps/$app/subscriptions/$id': 'billing',
  '/apps/$app/revenue': 'billing',
  '/apps/$app/billing': 'guides/stripe',
  '/apps/$app/keys': 'guides/production',
  '/apps/$app/webhooks': 'webhooks',
  '/apps/$app/webhooks/$id': 'webhooks',
  '/apps/$app/playground': 'concepts/checks-and-usage',
  '/apps/$app/graphiql': 'reference/admin-api',
  '/apps/$app/rest': 'rest',
  '/apps/$app/audit': 'operations',
  '/apps': 'concepts/test-clocks',
  '/members': 'operations',
  '/account': 'operations',
}

/** The changelog. */
export const WHATS_NEW = '/docs/changelog'
