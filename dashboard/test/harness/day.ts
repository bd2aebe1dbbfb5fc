import type { Locator, Page } from 'playwright-core'
import { jobsDone } from '../../../server/test/billing/jobs-done.ts'
import type { Client, Data } from '../../../server/test/harness/client.ts'
import { rowsOf } from '../../../server/test/harness/database.ts'
import type { TestServer } from '../../../server/test/harness/server.ts'
import { adminClient } from '../../../server/test/harness/server.ts'
import { hasFocus, type Visit } from './dashboard.ts'

/** Counts every press on the page, also across pages. Registered before anything of the page runs. */
const COUNT = `addEventListener('pointerdown', (event) => {
  if (event.isTrusted) sessionStorage.presses = String(Number(sessionStorage.presses ?? 0) + 1)
}, true)`

/** Somebody at work in the dashboard of one app, whose clicks are counted. */
export interface Worker extends Pick<Visit, 'open' | 'go' | 'idle'> {
  page: Page
  app: string
  databaseUrl: string
  phone: boolean
  /** light, dark or phone: the name of a picture */
  look: string
  admin: Client
  api: Client
  /** Types into a field, which takes a click unless the cursor is there already. */
  type(field: Locator, text: string): Promise<void>
  /** Chooses from a list that opens. */
  choose(list: Locator, option: string | RegExp): Promise<void>
  /** Goes to a page by the menu, which a phone opens first. */
  menu(label: string): Promise<void>
  button(name: string | RegExp): Locator
  clicks(): Promise<number>
}

export async function atWork(visit: Visit, app: Shop, look: string): Promise<Worker> {
  const { page, open, go, idle } = visit
  const phone = look === 'phone'
  await page.context().addInitScript(COUNT)
  const counted = () => page.evaluate('Number(sessionStorage.presses ?? 0)') as Promise<number>
  return {
    page,
    open,
    go,
    idle,
    app: app.id,
    databaseUrl: app.databaseUrl,
    admin: app.admin,
    api: app.api,
    phone,
    look,
    async type(field, text) {
      if (!(await hasFocus(field))) await field.click()
      await field.fill(text)
    },
    async choose(list, option) {
      await list.click()
      await page.getByRole('option', { name: option }).first().click()
    },
    async menu(label) {
      if (phone) await page.getByRole('button', { name: 'Open menu' }).click()
      await page
        .getByRole('navigation', { name: 'Main' })
        .getByRole('link', { name: label, exact: true })
        .click()
      await idle()
    },
    button: (name) => page.getByRole('button', typeof name === 'string' ? { name, exact: true } : { name }),
    clicks: counted,
  }
}

interface Shop {
  id: string
  admin: Client
  api: Client
  databaseUrl: string
}

/** An app that has been sold for a while: two plans with prices, an add-on, and some customers. */
export async function openShop(server: TestServer, id: string): Promise<Shop> {
  const { dashboard: api } = server
  const { createApiKey }: Data = await api.data(
    `mutation ($id: String!) { createApp(id: $id, name: "Acme") { id } createApiKey(appId: $id, name: "Backend") { secret } }`,
    { id },
  )
  const admin = adminClient(server.url, createApiKey.secret)
  await admin.data(`mutation {
    calls: createFeature(input: {id: "calls", name: "API calls", type: CONSUMABLE, unitLabel: "call", unitLabelPlural: "calls"}) { id }
    sso: createFeature(input: {id: "sso", name: "Single sign-on", type: BINARY}) { id }
    basic: createPackage(input: {id: "basic", name: "Basic", features: [{id: "calls", entitlement: {limit: 10}}]}) { id }
    pro: createPackage(input: {id: "pro", name: "Pro", features: [{id: "calls", entitlement: {limit: 100}}, {id: "sso"}]}) { id }
    old: createPackage(input: {id: "old", name: "Early bird", features: [{id: "calls", entitlement: {limit: 5}}]}) { id }
    ada: createUser(input: {id: "u-1001", name: "Ada Lovelace", email: "ada@example.com"}) { id }
    bob: createUser(input: {id: "u-1002", name: "Bob Noyce", email: "bob@example.com"}) { id }
    eve: createUser(input: {id: "u-1003", name: "Eve Hopper", email: "eve@example.com"}) { id }
    gina: createUser(input: {id: "u-1005", name: "Gina Torvalds", email: "gina@example.com"}) { id }
  }`)
  await api.data(
    `mutation ($app: String!) {
      basic: publishPackage(appId: $app, id: "basic") { id }
      pro: publishPackage(appId: $app, id: "pro") { id }
      old: publishPackage(appId: $app, id: "old") { id }
      basicPrice: createPrice(appId: $app, packageId: "basic", input: {amount: 900, currency: "usd", interval: "month"}) { id }
      card: createBillingTemplate(appId: $app, input: {id: "basic-by-card", name: "Basic by card", packageIds: ["basic"]}) { id }
    }`,
    { app: id },
  )
  await admin.data(`mutation {
    ada: subscribe(userId: "u-1001", packageIds: ["basic"]) { id }
    bob: subscribe(userId: "u-1002", packageIds: ["basic"]) { id }
    used: recordUsage(input: {userId: "u-1001", featureId: "calls", delta: 10}) { recorded }
  }`)
  await payLate(server, id)
  await payByCard(admin)
  await api.data(
    'mutation ($app: String!) { archiveBillingTemplate(appId: $app, id: "basic-by-card", archived: true) { id } }',
    { app: id },
  )
  await jobsDone(server.databaseUrl)
  return { id, admin, api, databaseUrl: server.databaseUrl }
}

/** Gina pays for a month by a link. */
async function payByCard(admin: Client): Promise<void> {
  const { generateSubscriptionLink } = await admin.data(`mutation {
    generateSubscriptionLink(userId: "u-1005", templateId: "basic-by-card", successUrl: "https://shop.example/paid",
      cancelUrl: "https://shop.example/back") { url } }`)
  const card = { number: '4242 4242 4242 4242', expiry: '12/99', cvc: '123', email: 'gina@example.com' }
  const paid = await fetch(generateSubscriptionLink.url, {
    method: 'POST',
    headers: { 'Content-Type': 'application/x-www-form-urlencoded' },
    body: new URLSearchParams({ action: 'pay', name: 'Gina Torvalds', ...card }),
    redirect: 'manual',
  })
  if (paid.status !== 303) throw new Error(`not paid: ${paid.status}`)
}

/** Ida has paid for a month, and her card was declined for the next. */
async function payLate({ databaseUrl }: TestServer, app: string): Promise<void> {
  await rowsOf(
    { connectionString: databaseUrl },
    `with ida as (insert into users (app_id, id, name, metadata) values ($1, 'u-1004', 'Ida Rhodes', '{}') returning uid),
     paid as (insert into payment (app_id, provider, ref, user_uid, subscription_ref, state, amount, currency, at)
       select $1, 'stripe', v.ref, uid, 'sub_ida', v.state, 900, 'usd', now() - v.ago::interval
       from ida, (values ('in_1', 'PAID', '20 days'), ('in_2', 'FAILED', '1 hour')) v (ref, state, ago)),
     price as (insert into price (app_id, provider, id, package_id, amount, currency, interval)
       values ($1, 'stripe', 'price_ida', 'basic', 900, 'usd', 'month')),
     billed as (insert into provider_subscription (app_id, provider, ref, user_uid, status, made_at, past_due_since, live,
         price_ids, quantities, billing_state)
       select $1, 'stripe', 'sub_ida', uid, 'past_due', now() - interval '20 days', now() - interval '1 hour', true,
         '{price_ida}', '{1}', 'past due' from ida)
     insert into subscription (app_id, id, user_uid, package_id, is_addon, started_at, anchor, provider, provider_ref)
     select $1, 'sub-of-ida-' || $1, uid, 'basic', false, now() - interval '20 days', now() - interval '20 days', 'stripe', 'sub_ida'
     from ida`,
    [app],
  )
}
