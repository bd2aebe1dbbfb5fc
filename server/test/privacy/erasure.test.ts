import { describe, expect, it } from 'vitest'
import { jobsDone } from '../billing/jobs-done.ts'
import { GOOD_CARD, openSandboxShop, type SandboxShop, SUCCESS } from '../billing/sandbox-shop.ts'
import { TEST_CELLS } from '../harness/cells-by-hand.ts'
import type { Data } from '../harness/client.ts'
import { rowsOf, untilSomebodyWaits, withConnection } from '../harness/database.ts'
import { dump, tablesWith } from '../harness/dump.ts'
import { sessionCookie, upload } from '../harness/import.ts'
import { startTestServer } from '../harness/server.ts'
import { shared } from '../harness/shared.ts'
import { dumpOfRest } from './dump-of-rest.ts'

// A user who leaves traces in every table that can have any is deleted, and everything is searched for them.

const server = shared(startTestServer)
let shop: SandboxShop

const sql = <Row extends Data>(text: string, values: unknown[] = []) =>
  rowsOf<Row>({ connectionString: server.databaseUrl }, text, values)

const DELETE = 'mutation ($id: String!) { deleteUser(id: $id) { id } }'

/** Each occurs nowhere else. */
const TEXTS = {
  id: 'zoe-7f3a',
  formerId: 'zoe-before-91bc',
  name: 'Zoë Quartermaine',
  email: 'zoe.q@personal.example',
  formerEmail: 'zoe.old@personal.example',
  metadata: 'shoe size 38 and a half',
  billingId: 'cus_zoe_5521',
  override: 'because her brother asked',
}

/** What each table that can hold something about a person has of these texts, before. */
const PERSONAL = [
  'audit_entry',
  'checkout_session',
  'event_log',
  'credit',
  'idempotency',
  'notice',
  'payment',
  'provider_subscription',
  'recent_usage',
  'sandbox_checkout',
  'sandbox_customer',
  'sandbox_event',
  'sandbox_invoice',
  'sandbox_subscription',
  'usage_cap',
  'usage_reservation',
  'user_import_row',
  'users',
  'graphile_worker._private_jobs',
]

/** Tables that never hold a text about a user. Usage and subscriptions know them by a number. */
const IMPERSONAL = [
  'recharge_attempt',
  'recharge_rule',
  'event_block',
  // The moments of overrides, which go with the user.
  'event_due',
  // Empty once its events are published.
  'event_outbox',
  'event_position',
  'activity',
  'api_key',
  'app',
  'billing_template',
  'bulk_change',
  'bulk_change_row',
  'billing_template_item',
  'cell',
  'cell_bucket',
  'denial',
  'erased_ref',
  'feature',
  'feature_activity',
  'invitation',
  'job_worker',
  'ledger_base',
  'ledger_partition',
  'liveness',
  'member',
  'package',
  'package_feature',
  'package_history',
  'password_reset',
  'price',
  'provider_account',
  'remote_work',
  'revenue_figures',
  'sample_activity',
  'sample_item',
  'schema_migration',
  'secret',
  'session',
  'sign_in_pace',
  'spender',
  'subscription',
  'token_key',
  'usage_counter',
  'usage_hour',
  'usage_rollup',
  'usage_ledger',
  'usage_ledger_0',
  'usage_ledger_1',
  // Empty while there is one cell; cells.test.ts has several.
  'user_billing_id',
  'user_import',
  // Empty without an endpoint. A delivery names its event, and keeps the beginning of what the receiver answered.
  'webhook_delivery',
  'webhook_endpoint',
  'graphile_worker._private_job_queues',
  'graphile_worker._private_known_crontabs',
  'graphile_worker._private_tasks',
  'graphile_worker.migrations',
]

/** Fills every table through what people, applications and providers do; returns a token of hers. */
async function leaveTraces(): Promise<string> {
  const { admin, dashboard, id: appId } = shop
  const { id, formerId, name, email, formerEmail, metadata, billingId, override } = TEXTS
  const keyed = (key: string) => admin.with({ 'Idempotency-Key': key })
  await keyed('create').data('mutation ($input: CreateUserInput!) { createUser(input: $input) { id } }', {
    input: { id: formerId, name, email: formerEmail, metadata: { note: metadata } },
  })
  // Refusals quote what they refuse.
  await keyed('taken').error(`mutation { createUser(input: { id: "${formerId}" }) { id } }`)
  await keyed('unknown').error(`mutation { subscribe(userId: "${id}", packageIds: ["plan"]) { id } }`)
  await dashboard.call('updateUser', { id: formerId, input: { id } })
  await dashboard.call('updateUser', { id, input: { billingId } })

  const csv = `id,email,billingId\n${id},${email},\nann,,${billingId}\n${formerId},x@example.com,\n`
  expect(await upload(server, await sessionCookie(server), { app: appId }, csv)).toMatchObject({
    status: 200,
  })
  // The report says what is wrong with a row, and with it what it held.
  const bad = `id,email\n${id},${email} (private)\n`
  expect(await upload(server, await sessionCookie(server), { app: appId }, bad)).toMatchObject({ bad: 1 })

  // Paid twice, by links that were made before: the second payment is a failed notice.
  for (const link of [await shop.link('life', id), await shop.link('life', id)]) {
    await shop.submit(link, GOOD_CARD)
    await jobsDone(server.databaseUrl)
  }
  await shop.buy('plan', id)
  const [, plan] = await shop.billed(id)
  await shop.cancel(plan?.id, true)
  await shop.keep(plan?.id)
  await admin.call('generateSubscriptionLink', {
    userId: id,
    templateId: 'pro',
    successUrl: `${SUCCESS}?who=${id}`,
    cancelUrl: SUCCESS,
  })
  await keyed('extra').data(`mutation { subscribe(userId: "${id}", packageIds: ["extra"]) { userId } }`)
  for (const key of [`usage of ${id}`, 'unnamed']) {
    await admin.call('recordUsage', {
      input: { userId: id, featureId: 'call', delta: 2, idempotencyKey: key },
    })
  }
  await dashboard.data(
    `mutation { recordUsage(appId: "${appId}", input: { userId: "${id}", featureId: "call", delta: 1 }) { recorded }
      generateUserToken(appId: "${appId}", userId: "${id}") { token } }`,
  )
  // Shows the latest usage, and so has it written.
  await dashboard.data(`{ latestEvents(appId: "${appId}") { text } }`)
  await keyed('override').call('setOverride', {
    input: { userId: id, featureId: 'call', mode: 'ADD', limit: 5, reason: override },
  })

  await keyed('credit').call('addCredit', {
    input: { userId: id, featureId: 'call', amount: 3, priority: 90, reason: override },
  })
  await keyed('capped').call('setCap', {
    input: { userId: id, featureId: 'call', entity: `team:${metadata}`, limit: 5, period: 'DAY' },
  })
  await keyed('reserved').call('reserveUsage', {
    input: { userId: id, featureId: 'call', amount: 1, metadata: { note: metadata } },
  })

  // What is on its way when she is deleted: a job for later, and an event of the sandbox that nobody has fetched.
  const [paid] = await sql<{ ref: string }>(
    `select ref from provider_subscription where app_id = $1 and live`,
    [appId],
  )
  await sql(
    `select graphile_worker.add_job('sync-subscription', $1::json, run_at => now() + interval '1 day')`,
    [JSON.stringify({ appId, provider: 'sandbox', ref: paid?.ref })],
  )
  await sql(`insert into sandbox_event (app_id, id, payload) values ($1, 'evt_unsent', $2)`, [
    appId,
    JSON.stringify({
      id: 'evt_unsent',
      type: 'customer.subscription.updated',
      data: { object: { object: 'subscription', id: paid?.ref, customer: billingId } },
    }),
  ])
  const { generateUserToken } = await keyed('token').data(
    `mutation { generateUserToken(userId: "${id}") { token } }`,
  )
  return generateUserToken.token
}

const tokenFor = (userId: string) => `mutation { generateUserToken(userId: "${userId}") { token } }`

const usage = (appId: string) =>
  sql(
    `select feature_id, reset_period, sum(used)::int as used, (select sum(delta)::int from usage_ledger l
       where l.app_id = c.app_id and l.feature_id = c.feature_id and l.reset_period = c.reset_period) as recorded
     from usage_counter c where app_id = $1 group by app_id, feature_id, reset_period`,
    [appId],
  )

describe('gap: deleteUser', () => {
  it('erases a payer who became a user by paying', async () => {
    shop = await openSandboxShop(server)
    const { admin } = shop
    const texts = { email: 'pat.once@personal.example', name: 'Pat Oncepaid' }
    const url = await shop.link('plan', null)
    await shop.submit(url, { ...GOOD_CARD, ...texts })
    await jobsDone(server.databaseUrl)
    const { users } = await admin.data('{ users { id email } }')
    const payer = users.find(({ email }: Data) => email === texts.email)
    const traces = { ...texts, id: payer.id, link: url.split('/').at(-1) ?? '' }
    const before = await dump(server.databaseUrl)
    for (const [what, text] of Object.entries(traces)) expect(tablesWith(before, text), what).not.toEqual([])
    // The key of the deletion itself may name the user too.
    await admin.with({ 'Idempotency-Key': `delete ${payer.id}` }).data(DELETE, { id: payer.id })
    await jobsDone(server.databaseUrl)
    const after = await dumpOfRest(server.databaseUrl)
    for (const [what, text] of Object.entries(traces)) expect(tablesWith(after, text), what).toEqual([])
  })

  it('erases a user from every table, and keeps what was used', async () => {
    shop = await openSandboxShop(server)
    const { admin, id: appId } = shop
    const token = await leaveTraces()
    await jobsDone(server.databaseUrl)

    const before = await dumpOfRest(server.databaseUrl)
    expect([...before.keys()].sort()).toEqual([...PERSONAL, ...IMPERSONAL].sort())
    const [paid] = await sql<{ ref: string }>(`select ref from provider_subscription where live`)
    const texts = { ...TEXTS, paid: paid?.ref ?? '' }
    const found = Object.values(texts).flatMap((text) => tablesWith(before, text))
    // Where there are several cells, billing ids are noted beside them.
    const also = ['subscription', ...(TEST_CELLS > 1 ? ['user_billing_id'] : [])]
    expect([...new Set(found)].sort()).toEqual([...PERSONAL, ...also].sort())
    for (const [what, text] of Object.entries(texts)) expect(tablesWith(before, text), what).not.toEqual([])
    const used = await usage(appId)
    expect(used).toEqual([expect.objectContaining({ used: 5, recorded: 5 })])
    const audited = before.get('audit_entry')?.length ?? 0

    const keyed = admin.with({ 'Idempotency-Key': 'delete' })
    expect((await keyed.data(DELETE, { id: TEXTS.id })).deleteUser).toEqual({ id: TEXTS.id })
    await jobsDone(server.databaseUrl)

    const after = await dumpOfRest(server.databaseUrl)
    for (const [what, text] of Object.entries(texts)) expect(tablesWith(after, text), what).toEqual([])
    expect(await usage(appId)).toEqual(used)
    // Of the deletion itself there is one more.
    expect(after.get('audit_entry')?.length).toBe(audited + 1)
    const failed = await shop.notices('state lastError payload')
    expect(failed).toEqual([
      {
        state: 'FAILED',
        lastError: expect.stringContaining('Refund it at the sandbox'),
        payload: expect.anything(),
      },
    ])
    expect(after.get('user_import_row')?.length).toBe(before.get('user_import_row')?.length)

    // The same request again has the same answer; another finds nobody.
    expect((await keyed.data(DELETE, { id: TEXTS.id })).deleteUser).toEqual({ id: TEXTS.id })
    expect((await admin.error(DELETE, { id: TEXTS.id })).extensions.code).toBe('USER_NOT_FOUND')
    const page = await fetch(`${server.url}/client/graphql`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', Authorization: `Bearer ${token}` },
      body: JSON.stringify({ query: '{ me { id } }' }),
    })
    expect(((await page.json()) as Data).errors[0].extensions.code).toBe('UNAUTHENTICATED')
    // Late retries of her calls change nothing.
    const late = admin.with({ 'Idempotency-Key': 'create' })
    const created = await late.error(
      'mutation ($input: CreateUserInput!) { createUser(input: $input) { id } }',
      {
        input: {
          id: TEXTS.formerId,
          name: TEXTS.name,
          email: TEXTS.formerEmail,
          metadata: { note: TEXTS.metadata },
        },
      },
    )
    expect(created.message).toBe('The user was deleted')
    const again = await admin.with({ 'Idempotency-Key': 'token' }).error(tokenFor(TEXTS.id))
    expect(again.message).toBe('The user was deleted')
    expect((await admin.data('{ users { id } }')).users).toEqual([{ id: 'ann' }])

    // The id is free: whoever takes it is somebody new.
    await admin.data(`mutation { createUser(input: { id: "${TEXTS.id}" }) { id } }`)
    expect(await shop.canUse(TEXTS.id)).toMatchObject({ access: false, reasonCode: 'NO_SUBSCRIPTION' })
  })

  it('erases what was written under the former id while a new one waited for its turn', async () => {
    shop = await openSandboxShop(server)
    const { admin, dashboard, id: appId } = shop
    const name = 'Ann Between'
    await withConnection({ connectionString: server.databaseUrl }, async (client) => {
      await client.query('begin')
      await client.query('select from app where id = $1 for no key update', [appId])
      const renamed = dashboard.data(
        `mutation { updateUser(appId: "${appId}", id: "ann", input: { id: "anna" }) { id } }`,
      )
      await untilSomebodyWaits(server.databaseUrl)
      await admin.data(`mutation { updateUser(id: "ann", input: { name: "${name}" }) { id } }`)
      await client.query('commit')
      await renamed
    })
    expect(tablesWith(await dump(server.databaseUrl), name)).toContain('audit_entry')
    await admin.data(DELETE, { id: 'anna' })
    expect(tablesWith(await dumpOfRest(server.databaseUrl), name)).toEqual([])
  })
})
