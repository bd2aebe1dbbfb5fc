import {
  IconActivity,
  IconApps,
  IconBook2,
  IconBox,
  IconCode,
  IconCoins,
  IconCreditCard,
  IconFlask,
  IconHistory,
  IconKey,
  IconPuzzle,
  IconReceipt,
  IconRoute,
  IconUpload,
  IconUser,
  IconUsers,
  IconWebhook,
  type TablerIcon,
} from '@tabler/icons-react'

export interface Place {
  label: string
  to: string
  icon: TablerIcon
  /** other words that find it in the command bar */
  words?: string
}

/** The menu, in order. `$app` is replaced by the app's id. */
export const PLACES: { title: string; places: Place[] }[] = [
  { title: '', places: [{ label: 'Home', to: '/apps/$app', icon: IconActivity, words: 'overview charts' }] },
  {
    title: 'Catalogue',
    places: [
      { label: 'Features', to: '/apps/$app/features', icon: IconPuzzle },
      { label: 'Packages', to: '/apps/$app/packages', icon: IconBox, words: 'plans add-ons publish' },
    ],
  },
  {
    title: 'Customers',
    places: [
      { label: 'Users', to: '/apps/$app/users', icon: IconUsers },
      { label: 'Subscriptions', to: '/apps/$app/subscriptions', icon: IconReceipt },
      { label: 'CSV import', to: '/apps/$app/import', icon: IconUpload, words: 'email billing id' },
      {
        label: 'Revenue',
        to: '/apps/$app/revenue',
        icon: IconCoins,
        words: 'mrr money payments churn past due',
      },
      { label: 'Billing', to: '/apps/$app/billing', icon: IconCreditCard, words: 'templates stripe notices' },
    ],
  },
  {
    title: 'Developers',
    places: [
      { label: 'Playground', to: '/apps/$app/playground', icon: IconFlask, words: 'explain check access' },
      { label: 'API keys', to: '/apps/$app/keys', icon: IconKey, words: 'secret rotate' },
      {
        label: 'Webhooks',
        to: '/apps/$app/webhooks',
        icon: IconWebhook,
        words: 'events endpoints deliveries signing secret',
      },
      { label: 'GraphiQL', to: '/apps/$app/graphiql', icon: IconCode, words: 'graphql query' },
      { label: 'REST', to: '/apps/$app/rest', icon: IconRoute, words: 'openapi routes http curl' },
    ],
  },
  {
    title: 'Administration',
    places: [
      { label: 'Apps', to: '/apps', icon: IconApps, words: 'test clock copy catalogue origins' },
      { label: 'Members', to: '/members', icon: IconUser, words: 'roles people' },
      { label: 'Audit log', to: '/apps/$app/audit', icon: IconHistory, words: 'changes' },
    ],
  },
]

/** The documentation, which the service serves beside the dashboard. It opens in a tab of its own, in this group of the menu. */
export const DOCUMENTATION = {
  group: 'Developers',
  label: 'Documentation',
  href: '/docs/',
  icon: IconBook2,
  words: 'docs help guides reference manual',
}

/** What the command bar offers to start, to those whose role allows it. */
export const ACTIONS: { label: string; mutation: string; to: string; search?: object; words?: string }[] = [
  {
    label: 'New feature',
    mutation: 'createFeature',
    to: '/apps/$app/features',
    search: { make: '1' },
    words: 'create add',
  },
  {
    label: 'New package',
    mutation: 'createPackage',
    to: '/apps/$app/packages',
    search: { make: '1' },
    words: 'create add plan',
  },
  {
    label: 'New user',
    mutation: 'createUser',
    to: '/apps/$app/users',
    search: { make: '1' },
    words: 'create add',
  },
  {
    label: 'New API key',
    mutation: 'createApiKey',
    to: '/apps/$app/keys',
    search: { make: '1' },
    words: 'create add secret',
  },
  {
    label: 'New webhook endpoint',
    mutation: 'createWebhookEndpoint',
    to: '/apps/$app/webhooks',
    search: { make: '1' },
    words: 'create add events',
  },
  { label: 'New app', mutation: 'createApp', to: '/apps', search: { make: '1' }, words: 'create add' },
  {
    label: 'Invite a member',
    mutation: 'inviteMember',
    to: '/members',
    search: { make: '1' },
    words: 'add person colleague',
  },
  {
    label: 'Bulk changes',
    mutation: 'startBulkChange',
    to: '/apps/$app/bulk',
    words: 'many users plan trial cancel override',
  },
  { label: 'Import users from CSV', mutation: 'importUsers', to: '/apps/$app/import', words: 'upload' },
]
