import { beforeAll, describe, expect, it } from 'vitest'
import { jobsDone } from '../../server/test/billing/jobs-done.ts'
import { rowsOf } from '../../server/test/harness/database.ts'
import { sessionCookie, upload } from '../../server/test/harness/import.ts'
import { MASTER_KEY_SETTINGS } from '../../server/test/harness/server.ts'
import { shared } from '../../server/test/harness/shared.ts'
import { openDashboard, type Visit } from './harness/dashboard.ts'
import { routesWithout } from './harness/pages.ts'

/** Runs if any page takes it for markup; `field` says where it came from. */
const script = (field: string) => `<img src=x onerror=alert('${field}')><script>alert('${field}')</script>`
/** The same for what must look like an address. */
const address = (field: string) => `<img/src=x/onerror=alert('${field}')>@example.com`
const metadata = (of: string) => ({ [script(`${of} metadata key`)]: script(`${of} metadata`) })

const ADDRESSES = ['email', 'payer-email', 'imported-email', 'member', 'invited']
const textOf = (field: string) => (ADDRESSES.includes(field) ? address(field) : script(field))

const FEATURE = script('feature id')
const PACKAGE = script('package id')
const USER = script('user id')
const TEMPLATE = script('template id')
/** The names of ids that are known only later, in paths. */
const ids: Record<string, string> = { '{subscription}': '', '{endpoint}': '' }
const at = (...parts: string[]) =>
  ['/apps/default', ...parts.map((part) => (part in ids ? part : encodeURIComponent(part)))].join('/')

/** Where each field must be found as the text that it is. */
const SHOWN: Record<string, string[]> = {
  [at()]: ['app name', 'feature name', 'user name'],
  [at('features')]: ['feature name', 'feature id', 'unit, several', 'package name'],
  [`${at('features')}?edit=${encodeURIComponent(FEATURE)}`]: ['unit, one', 'feature metadata'],
  [at('features', FEATURE)]: ['feature name', 'feature id', 'package name'],
  [`${at('features', FEATURE)}?tab=users`]: ['user id'],
  [`${at('features')}?search=${encodeURIComponent(script('search'))}`]: ['search'],
  [at('packages')]: ['package name', 'package id'],
  [at('packages', PACKAGE)]: ['package name', 'package id', 'draft name', 'feature name', 'feature id'],
  [`${at('packages', PACKAGE)}?tab=prices`]: ['price id'],
  [`${at('packages', PACKAGE)}?tab=subscribers`]: ['user id'],
  [`${at('packages', PACKAGE)}?tab=metadata`]: ['package metadata', 'package metadata key'],
  [at('packages', PACKAGE, 'publish')]: ['draft name', 'feature name'],
  [at('users')]: ['user name', 'user id', 'email', 'billing id', 'payer name', 'payer-email'],
  [`${at('users')}?search=${encodeURIComponent(script('search'))}`]: ['search'],
  [at('users', USER)]: ['user name', 'user id', 'email', 'feature name', 'unit, several'],
  [`${at('users', USER)}?feature=${encodeURIComponent(FEATURE)}`]: ['feature name'],
  [`${at('users', USER)}?tab=subscriptions`]: ['package name'],
  [`${at('users', USER)}?tab=ledger`]: ['feature name'],
  [`${at('users', USER)}?tab=details`]: ['user metadata', 'user metadata key'],
  [at('subscriptions')]: ['user id', 'package name'],
  [at('subscriptions', '{subscription}')]: ['user name', 'package name'],
  [at('import')]: [],
  [`${at('import')}?id=marked-up`]: ['user id', 'imported-email', 'imported id'],
  [at('bulk')]: ['package name'],
  [`${at('bulk')}?id=marked-up`]: ['package name', 'user name'],
  [at('billing')]: ['template name', 'template id', 'package name'],
  [`${at('billing')}?tab=providers`]: [],
  [`${at('billing')}?tab=notices`]: ['notice type', 'notice error'],
  [`${at('billing')}?tab=notices&notice=1000`]: ['notice payload'],
  [at('webhooks')]: ['endpoint description'],
  [at('webhooks', '{endpoint}')]: ['endpoint description'],
  [at('revenue')]: [],
  [at('keys')]: ['key name'],
  [`${at('playground')}?user=${encodeURIComponent(USER)}&feature=${encodeURIComponent(FEATURE)}`]: [
    'package name',
    'user id',
    'feature id',
  ],
  [at('graphiql')]: [],
  [at('rest')]: [],
  [at('audit')]: ['package id', 'template id'],
  '/apps': ['app name'],
  '/apps?copyTo=other&copyFrom=default': ['feature name', 'package name'],
  '/members': ['member', 'invited'],
  '/account': [],
  '/sign-in': [],
  '/setup#token=%3Cscript%3E': [],
  '/invite#token=%3Cscript%3E': [],
  '/reset#token=%3Cscript%3E': [],
}

const dashboard = shared(() => openDashboard({ env: MASTER_KEY_SETTINGS }))
let visit: Visit
beforeAll(async () => {
  await markUp()
  visit = await dashboard.signedIn(undefined, { userAgent: script('user agent') })
  await visit.open('/account')
  visit.page.on('dialog', (dialog) => visit.problems.push(`it ran: ${dialog.message()}`))
})

/** Puts a script into everything that takes a text. */
async function markUp(): Promise<void> {
  const { admin, dashboard: owner, databaseUrl } = dashboard.server
  const run = (mutation: string, input: object) =>
    admin.data(
      `mutation ($input: ${mutation[0]?.toUpperCase()}${mutation.slice(1)}Input!) { ${mutation}(input: $input) { id } }`,
      { input },
    )
  await run('createFeature', {
    id: FEATURE,
    name: script('feature name'),
    type: 'CONSUMABLE',
    unitLabel: script('unit, one'),
    unitLabelPlural: script('unit, several'),
    metadata: metadata('feature'),
  })
  await run('createPackage', {
    id: PACKAGE,
    name: script('package name'),
    metadata: metadata('package'),
    features: [{ id: FEATURE, entitlement: { limit: 10 } }],
  })
  await run('createUser', {
    id: USER,
    name: script('user name'),
    email: address('email'),
    billingId: script('billing id'),
    metadata: metadata('user'),
  })
  await owner
    .data(
      `mutation ($package: String!, $draft: EditPackageInput!, $price: CreatePriceInput!, $template: CreateBillingTemplateInput!, $app: String!, $key: String!, $member: String!, $invited: String!) {
      publishPackage(appId: "default", id: $package) { id }
      editPackage(appId: "default", id: $package, input: $draft) { id }
      createPrice(appId: "default", packageId: $package, input: $price) { id }
      createBillingTemplate(appId: "default", input: $template) { id }
      renameApp(appId: "default", name: $app) { id }
      createApp(id: "other", name: "Other") { id }
      createApiKey(appId: "default", name: $key) { id }
      invited: inviteMember(email: $invited, role: VIEWER) { id }
      member: inviteMember(email: $member, role: VIEWER) { url }
    }`,
      {
        package: PACKAGE,
        draft: { name: script('draft name'), features: [{ id: FEATURE, entitlement: { limit: 1 } }] },
        price: { id: script('price id'), amount: 1200, currency: 'usd', interval: 'month' },
        template: { id: TEMPLATE, name: script('template name'), packageIds: [PACKAGE] },
        app: script('app name'),
        key: script('key name'),
        member: address('member'),
        invited: address('invited'),
      },
    )
    .then(({ member }) =>
      owner.data(
        'mutation ($token: String!) { acceptInvitation(token: $token, password: "a good password") { id } }',
        { token: new URLSearchParams(new URL(member.url).hash.slice(1)).get('token') },
      ),
    )
  const { generateSubscriptionLink, subscribe, endpoint } = await admin.data(
    `mutation ($user: String!, $package: String!, $feature: String!, $template: String!, $endpoint: CreateWebhookEndpointInput!) {
      subscribe(userId: $user, packageIds: [$package]) { id }
      recordUsage(input: {userId: $user, featureId: $feature, delta: 9}) { recorded }
      generateSubscriptionLink(templateId: $template, successUrl: "https://shop.example/", cancelUrl: "https://shop.example/") { url }
      endpoint: createWebhookEndpoint(input: $endpoint) { id }
    }`,
    {
      user: USER,
      package: PACKAGE,
      feature: FEATURE,
      template: TEMPLATE,
      endpoint: { url: 'https://hooks.invalid/', description: script('endpoint description') },
    },
  )
  ids['{subscription}'] = subscribe[0].id
  ids['{endpoint}'] = endpoint.id
  await fetch(generateSubscriptionLink.url, {
    method: 'POST',
    body: new URLSearchParams({
      action: 'pay',
      email: address('payer-email'),
      name: script('payer name'),
      number: '4242424242424242',
      expiry: '12/60',
      cvc: '123',
    }),
    redirect: 'manual',
  })
  await jobsDone(databaseUrl)
  await rowsOf(
    { connectionString: databaseUrl },
    `insert into notice (app_id, seq, provider, event_id, type, payload, state, last_error) overriding system value
     values ('default', 1000, 'stripe', $1, $2, $3, 'FAILED', $4)`,
    [
      script('notice id'),
      script('notice type'),
      JSON.stringify({ text: script('notice payload') }),
      script('notice error'),
    ],
  )
  await rowsOf(
    { connectionString: databaseUrl },
    `with made as (insert into bulk_change (app_id, id, state, request, member_id, member_email, rows, changing)
       values ('default', 'marked-up', 'CHECKED', $1, 0, '', 1, 1))
     insert into bulk_change_row (app_id, bulk_id, number, user_uid, outcome)
     select 'default', 'marked-up', 1, uid, 'CHANGE' from users where app_id = 'default' and id = $2`,
    [
      JSON.stringify({
        action: { kind: 'CHANGE_PLAN', packageId: PACKAGE, when: 'NOW' },
        of: { list: 'USERS', ids: [] },
      }),
      USER,
    ],
  )
  const csv = (cells: string[]) => cells.map((cell) => `"${cell.replaceAll('"', '""')}"`).join(',')
  await upload(
    dashboard.server,
    await sessionCookie(dashboard.server),
    { app: 'default', import: 'marked-up', dryRun: '1' },
    ['id,email', csv([USER, address('imported-email')]), csv([script('imported id'), 'a@example.com'])].join(
      '\n',
    ),
  )
}

describe('gap: a script in what people enter', () => {
  it('is looked for on every page', async () => {
    expect(await routesWithout(Object.keys(SHOWN))).toEqual([])
  })

  it.for(Object.entries(SHOWN))('is text on %s', async ([path, fields]) => {
    const { page, go, problems } = visit
    await go(Object.entries(ids).reduce((whole, [name, id]) => whole.replace(name, id), path))
    const text = String(
      await page.evaluate(
        `[document.body.innerText, ...[...document.querySelectorAll('input, textarea')].map((e) => e.value)].join(' ')`,
      ),
    )
    expect(fields.filter((field) => !text.includes(textOf(field)))).toEqual([])
    const markup = 'img[src="x"], [onerror], script:not([src])'
    expect(await page.locator(markup).count()).toBe(0)
    expect(problems).toEqual([])
  })

  it('is text in the details of the audit log', async () => {
    const { page, open, problems } = visit
    await open(at('audit'))
    await page
      .getByRole('button', { name: /^Details: \S+ changed the package/ })
      .first()
      .click()
    await page.getByRole('dialog').getByText(script('draft name')).first().waitFor()
    expect(problems).toEqual([])
  })

  it('is text in the command bar', async () => {
    const { page, open, problems } = visit
    await open(at('users'))
    await page.keyboard.press('Control+k')
    await page.getByRole('textbox', { name: /^Go to/ }).fill("<img src=x onerror=alert('user")
    await page.getByRole('dialog').getByText(script('user name')).waitFor()
    expect(problems).toEqual([])
  })
})
