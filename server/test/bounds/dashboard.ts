import type pg from 'pg'
import { expect, vi } from 'vitest'
import {
  INVITATION_HOURS,
  KEPT_BULK_CHANGES,
  KEPT_IMPORTS,
  MAX_ACTIVITY_POINTS,
  MAX_AUDIT_SCAN,
  MAX_BULK_IDS,
  MAX_BULK_ROWS,
  MAX_COUNTED,
  MAX_EVENT_DAYS,
  MAX_EXPORTED_ROWS,
  MAX_FAILED_SIGN_INS,
  MAX_IMPORT_BYTES,
  MAX_IMPORT_ROW_CHARACTERS,
  MAX_KEY_OVERLAP_HOURS,
  MAX_LOOKED_AT,
  MAX_PAGE,
  MAX_REVENUE_DAYS,
  MAX_RUNNING_BULK_CHANGES,
  MAX_SORTED_BY_AMOUNT,
  MAX_TOTAL,
  MAX_USAGE_POINTS,
  MAX_USERS_BY_PART,
  PASSWORD_RESET_HOURS,
} from '../../src/domain/limits.ts'
import { dashboardClient } from '../harness/client.ts'
import { rowsOf, UNREPORTED } from '../harness/database.ts'
import { sessionCookie, upload } from '../harness/import.ts'
import { PATIENCE_MS } from '../harness/patience.ts'
import { type Bound, CREATE_FEATURE, CREATE_USER, valueBound, type World } from './bound.ts'

const INVITE = 'mutation ($email: String!) { inviteMember(email: $email, role: VIEWER) { url } }'

export const dashboardBounds: Bound[] = [
  valueBound(
    'MAX_PAGE',
    'rows of a page in the dashboard',
    { within: MAX_PAGE, beyond: MAX_PAGE + 1 },
    ({ dashboard }, first) =>
      dashboard.ask('query ($first: Int) { users(appId: "default", first: $first) { next } }', { first }),
    /^first must be from 1 to 500$/,
  ),
  valueBound(
    'MAX_REVENUE_DAYS',
    'days of a revenue chart',
    { within: MAX_REVENUE_DAYS, beyond: MAX_REVENUE_DAYS + 1 },
    ({ dashboard }, days) =>
      dashboard.ask(
        'query ($from: String!) { revenueOverTime(appId: "default", from: $from, to: "2026-12-31") { days } }',
        { from: new Date(Date.parse('2027-01-01') - days * 86_400_000).toISOString().slice(0, 10) },
      ),
    /^The range can be at most 731 days$/,
  ),
  valueBound(
    'MAX_ACTIVITY_POINTS',
    'intervals of a chart',
    { within: MAX_ACTIVITY_POINTS, beyond: MAX_ACTIVITY_POINTS + 1 },
    ({ dashboard }, hours) =>
      dashboard.ask(
        `query ($to: String!) { activity(appId: "default", from: "2026-01-01T00:00:00Z", to: $to, interval: HOUR) { at } }`,
        { to: new Date(Date.UTC(2026, 0, 1, hours)).toISOString() },
      ),
    /at most 1000 intervals apart$/,
  ),
  valueBound(
    'MAX_EVENT_DAYS',
    'days that events are kept',
    { within: MAX_EVENT_DAYS, beyond: MAX_EVENT_DAYS + 1 },
    ({ dashboard }, keptDays) =>
      dashboard.ask(
        'mutation ($keptDays: Int) { updateEventSettings(appId: "default", keptDays: $keptDays) { keptDays } }',
        { keptDays },
      ),
    /^keptDays must be from 1 to 90$/,
  ),
  valueBound(
    'MAX_USAGE_POINTS',
    'buckets of a usage series',
    { within: MAX_USAGE_POINTS, beyond: MAX_USAGE_POINTS + 1 },
    async ({ admin, fresh }, hours) => {
      const featureId = fresh()
      await admin.data(CREATE_FEATURE, { input: { id: featureId, name: 'Units', type: 'CONSUMABLE' } })
      return admin.ask(
        `query ($featureId: String!, $to: String!) {
          usageSeries(featureId: $featureId, from: "2026-01-01T00:00:00Z", to: $to, bucket: HOUR) { total }
        }`,
        { featureId, to: new Date(Date.UTC(2026, 0, 1, hours)).toISOString() },
      )
    },
    /more than 1000 buckets/,
  ),
  valueBound(
    'MAX_KEY_OVERLAP_HOURS',
    'the overlap of a rotated key',
    { within: MAX_KEY_OVERLAP_HOURS, beyond: MAX_KEY_OVERLAP_HOURS + 1 },
    async ({ dashboard }, hours) => {
      const createApiKey = await dashboard.call('createApiKey { id }', { appId: 'default', name: 'rotated' })
      return dashboard.ask(
        `mutation ($id: String!, $hours: Int) { rotateApiKey(appId: "default", id: $id, overlapHours: $hours) { id } }`,
        { id: createApiKey.id, hours },
      )
    },
    /^overlapHours must be from 0 to 720$/,
  ),
  {
    limit: 'MAX_LOOKED_AT',
    inOnePlace: true,
    what: 'rows that a page of a filtered list looks at',
    works: async (world) =>
      expect(await subscriptionsOf(world, MAX_LOOKED_AT, 0, 'ACTIVE')).toMatchObject({
        rows: [],
        next: null,
      }),
    refused: async (world) =>
      expect(await subscriptionsOf(world, MAX_LOOKED_AT, 1, 'ACTIVE')).toMatchObject({
        rows: [],
        next: expect.stringMatching(/^\d+$/),
      }),
  },
  {
    limit: 'MAX_COUNTED',
    inOnePlace: true,
    what: 'what a total counts to',
    works: async (world) =>
      expect(await subscriptionsOf(world, MAX_COUNTED, 0, 'CANCELLED')).toMatchObject({
        total: { count: MAX_COUNTED, more: false },
      }),
    refused: async (world) =>
      expect(await subscriptionsOf(world, MAX_COUNTED, 1, 'CANCELLED')).toMatchObject({
        total: { count: MAX_COUNTED, more: true },
      }),
  },
  {
    limit: 'MAX_TOTAL',
    inOnePlace: true,
    what: 'what the total of a list without a filter counts to',
    works: async (world) =>
      expect(await subscriptionsOf(world, MAX_TOTAL, 0, null)).toMatchObject({
        total: { count: MAX_TOTAL, more: false },
      }),
    refused: async (world) =>
      expect(await subscriptionsOf(world, MAX_TOTAL, 1, null)).toMatchObject({
        total: { count: MAX_TOTAL, more: true },
      }),
  },
  {
    limit: 'MAX_SORTED_BY_AMOUNT',
    inOnePlace: true,
    what: 'subscriptions among which a page sorted by amount is found',
    works: async (world) =>
      expect(await subscriptionsOf(world, MAX_SORTED_BY_AMOUNT, 0, null, 'AMOUNT_DESC')).toMatchObject({
        rows: [{ id: 's1' }],
      }),
    refused: async (world) =>
      expect(await subscriptionsOf(world, MAX_SORTED_BY_AMOUNT, 1, null, 'AMOUNT_DESC')).toMatchObject({
        rows: [{ id: 's100001' }],
      }),
  },
  {
    limit: 'MAX_USERS_BY_PART',
    inOnePlace: true,
    what: 'users found by a part of a word',
    works: (world) => expectFound(world, MAX_USERS_BY_PART, MAX_USERS_BY_PART),
    refused: (world) => expectFound(world, MAX_USERS_BY_PART + 1, MAX_USERS_BY_PART),
  },
  {
    limit: 'MAX_EXPORTED_ROWS',
    what: 'rows of one part of an export',
    works: (world) => expectParts(world, MAX_EXPORTED_ROWS, [MAX_EXPORTED_ROWS]),
    refused: (world) => expectParts(world, MAX_EXPORTED_ROWS + 1, [MAX_EXPORTED_ROWS, 1]),
  },
  {
    limit: 'MAX_AUDIT_SCAN',
    what: 'entries of the audit log that are searched at once',
    works: async (world) => expect(await foundBelow(world, MAX_AUDIT_SCAN - 1)).toBe(1),
    refused: async (world) => expect(await foundBelow(world, MAX_AUDIT_SCAN)).toBe(0),
  },
  {
    limit: 'MAX_FAILED_SIGN_INS',
    what: 'sources of failed sign-ins that are noted in an hour',
    works: async (world) => expect(await sourceNotedAfter(world, MAX_FAILED_SIGN_INS - 1)).toBe(true),
    refused: async (world) => expect(await sourceNotedAfter(world, MAX_FAILED_SIGN_INS)).toBe(false),
  },
  {
    limit: 'INVITATION_HOURS',
    what: 'the life of an invitation',
    works: async (world) => expect(await invitationAfter(world, INVITATION_HOURS * 3_600_000 - 1)).toBe(true),
    refused: async (world) => expect(await invitationAfter(world, INVITATION_HOURS * 3_600_000)).toBe(false),
  },
  {
    limit: 'PASSWORD_RESET_HOURS',
    what: 'the life of a password reset link',
    works: async (world) => expect(await resetAfter(world, PASSWORD_RESET_HOURS * 3_600_000 - 1)).toBe(true),
    refused: async (world) => expect(await resetAfter(world, PASSWORD_RESET_HOURS * 3_600_000)).toBe(false),
  },
  {
    limit: 'MAX_IMPORT_BYTES',
    what: 'a file of users',
    works: async (world) =>
      expect(await importOf(world, MAX_IMPORT_BYTES)).toMatchObject({
        status: 400,
        errors: [{ message: expect.stringMatching(/^The file has no column "id"/) }],
      }),
    refused: async (world) =>
      expect(await importOf(world, MAX_IMPORT_BYTES + 1)).toMatchObject({
        status: 400,
        errors: [
          { message: `The file must be at most ${MAX_IMPORT_BYTES} bytes. Split it into several files.` },
        ],
      }),
  },
  {
    limit: 'MAX_IMPORT_ROW_CHARACTERS',
    what: 'a row of such a file',
    works: async (world) =>
      expect(await rowOf(world, MAX_IMPORT_ROW_CHARACTERS)).toEqual({ changed: 1, bad: 0 }),
    refused: async (world) =>
      expect(await rowOf(world, MAX_IMPORT_ROW_CHARACTERS + 2)).toEqual({ changed: 0, bad: 1 }),
  },
  {
    limit: 'MAX_BULK_ROWS',
    what: 'rows of a bulk change',
    works: async (world) =>
      expect(await bulkChangeFrom(world, MAX_BULK_ROWS - 1)).toEqual({ state: 'CHECKED', problem: null }),
    refused: async (world) =>
      expect(await bulkChangeFrom(world, MAX_BULK_ROWS)).toEqual({
        state: 'FAILED',
        problem: 'More than 100,000 match. Use a narrower filter.',
      }),
  },
  valueBound(
    'MAX_BULK_IDS',
    'ids that a bulk change names',
    { within: MAX_BULK_IDS, beyond: MAX_BULK_IDS + 1 },
    ({ dashboard }, many) =>
      dashboard.ask(START_BULK, {
        input: { of: { list: 'USERS', ids: Array.from({ length: many }, (_, i) => `${i}`) }, cancel: {} },
      }),
    /^ids must contain from 1 to 500 ids$/,
  ),
  {
    limit: 'MAX_RUNNING_BULK_CHANGES',
    what: 'bulk changes of an app that run at the same time',
    works: async (world) =>
      expect(await startBesides(world, MAX_RUNNING_BULK_CHANGES - 1)).toEqual({ started: true }),
    refused: async (world) =>
      expect(await startBesides(world, MAX_RUNNING_BULK_CHANGES)).toEqual({
        message: '5 bulk changes of this app are running. Wait for one to finish, or stop it.',
      }),
  },
  {
    limit: 'KEPT_BULK_CHANGES',
    what: 'bulk changes that are kept',
    works: async (world) => expect(await bulkKeptAfter(world, KEPT_BULK_CHANGES)).toBe(true),
    refused: async (world) => expect(await bulkKeptAfter(world, KEPT_BULK_CHANGES + 1)).toBe(false),
  },
  {
    limit: 'KEPT_IMPORTS',
    what: 'imports that are kept',
    works: async (world) => expect(await keptAfter(world, KEPT_IMPORTS)).toBe(true),
    refused: async (world) => expect(await keptAfter(world, KEPT_IMPORTS + 1)).toBe(false),
  },
]

/** How many entries the first page finds below so many others by the same member. */
async function foundBelow({ dashboard, databaseUrl, fresh }: World, others: number): Promise<number> {
  const email = `${fresh()}@example.com`
  await rowsOf(
    { connectionString: databaseUrl },
    `insert into audit_entry (app_id, member_email, operation, subject_kind)
     select 'default', $1, case i when 0 then 'wanted' else 'other' end, 'k' from generate_series(0, $2::int) i`,
    [email, others],
  )
  const auditLog = await dashboard.call('auditLog { next rows { id } }', {
    appId: 'default',
    who: email,
    operation: 'wanted',
  })
  expect(auditLog.next).not.toBe(null)
  return auditLog.rows.length
}

/** Whether the source of a failed sign-in is noted after those of so many others. */
async function sourceNotedAfter({ url, databaseUrl }: World, others: number): Promise<boolean> {
  const ask = (sql: string) => rowsOf<{ source: string | null }>({ connectionString: databaseUrl }, sql)
  await ask(`delete from audit_entry where operation = 'signInFailed'`)
  await ask(`insert into audit_entry (app_id, actor_kind, member_email, source, operation, subject_kind, after)
    select '', 'VISITOR', '', 's' || i, 'signInFailed', 'member', '{"attempts":1}' from generate_series(1, ${others}) i`)
  await dashboardClient(url).ask('mutation { signIn(email: "x@example.com", password: "wrong") { id } }')
  const [last] = await ask(
    `select source from audit_entry where operation = 'signInFailed' order by seq desc limit 1`,
  )
  return last?.source !== null
}

async function invitationAfter({ clocked, turnClock, fresh }: World, ms: number): Promise<boolean> {
  const dashboard = dashboardClient(clocked.url).with({ Cookie: await sessionCookie(clocked) })
  const { inviteMember } = await dashboard.data(INVITE, { email: `${fresh()}@example.com` })
  turnClock(ms)
  const { errors } = await dashboardClient(clocked.url).ask(
    'query ($token: String!) { invitation(token: $token) { email } }',
    { token: new URLSearchParams(new URL(inviteMember.url).hash.slice(1)).get('token') },
  )
  return errors === undefined
}

async function resetAfter({ clocked, turnClock }: World, ms: number): Promise<boolean> {
  const dashboard = dashboardClient(clocked.url).with({ Cookie: await sessionCookie(clocked) })
  const { me } = await dashboard.data('{ me { id } }')
  const createPasswordReset = await dashboard.call('createPasswordReset { url }', { memberId: me.id })
  turnClock(ms)
  const { errors } = await dashboardClient(clocked.url).ask(
    'query ($token: String!) { passwordReset(token: $token) { email } }',
    { token: new URLSearchParams(new URL(createPasswordReset.url).hash.slice(1)).get('token') },
  )
  return errors === undefined
}

/**
 * A header and as many rows of 16 KiB as make the file so long. No column has ids, which is found out once the whole file
 * is there: so many rows would be looked up for seconds.
 */
async function importOf(world: World, bytes: number) {
  const header = 'name,email,x\n'
  const lines = `${'nobody,,'.padEnd(16 * 1024 - 1, 'x')}\n`.repeat(64)
  let left = bytes - header.length
  const body = new ReadableStream({
    start: (stream) => stream.enqueue(new TextEncoder().encode(header)),
    pull: (stream) => {
      if (left === 0) stream.close()
      else stream.enqueue(new TextEncoder().encode(lines.slice(0, left)))
      left -= Math.min(left, lines.length)
    },
  })
  return upload(world, await sessionCookie(world), { app: 'default' }, body)
}

/** A row whose cells, one of them nobody's, hold so many characters in all. */
async function rowOf(world: World, characters: number): Promise<object> {
  const id = world.fresh()
  await world.admin.data(CREATE_USER, { input: { id } })
  const email = `${id}@x.example`
  const filler = 'x'.repeat(characters - id.length - email.length)
  const answer = await upload(
    world,
    await sessionCookie(world),
    { app: 'default' },
    `id,email,x\n${id},${email},${filler}\n`,
  )
  return { changed: answer.changed, bad: answer.bad }
}

const START_BULK = `mutation ($input: BulkChangeInput!) { startBulkChange(appId: "default", input: $input) { id } }`

/** What becomes of the check of one more user, after so many rows. */
async function bulkChangeFrom({ dashboard, databaseUrl, fresh, admin }: World, rows: number) {
  const [user, id] = [fresh(), fresh()]
  await admin.data(CREATE_USER, { input: { id: user } })
  const request = { action: { kind: 'CANCEL', atPeriodEnd: true }, of: { list: 'USERS', ids: [user] } }
  const sql = (text: string, values: unknown[]) => rowsOf({ connectionString: databaseUrl }, text, values)
  await sql(
    `insert into bulk_change (app_id, id, state, request, member_id, member_email, rows)
     values ('default', $1, 'CHECKING', $2, 0, '', $3)`,
    [id, JSON.stringify(request), rows],
  )
  await sql(`select graphile_worker.add_job('bulk-change', $1::json)`, [
    JSON.stringify({ appId: 'default', id }),
  ])
  return vi.waitFor(
    async () => {
      const { bulkChange } = await dashboard.data(
        'query ($id: String!) { bulkChange(appId: "default", id: $id) { state problem } }',
        { id },
      )
      expect(bulkChange.state).not.toBe('CHECKING')
      return bulkChange
    },
    { timeout: PATIENCE_MS, interval: 50 },
  )
}

/** The answer to one more bulk change, while so many run. */
async function startBesides({ dashboard, databaseUrl, fresh }: World, running: number): Promise<object> {
  const app = fresh()
  await dashboard.data('mutation ($app: String!) { createApp(id: $app, name: $app) { id } }', { app })
  await rowsOf(
    { connectionString: databaseUrl },
    `insert into bulk_change (app_id, id, state, request, member_id, member_email)
     select $1, 'running-' || i, 'APPLYING', '{}', 0, '' from generate_series(1, $2::int) i`,
    [app, running],
  )
  const { data, errors } = await dashboard.ask(
    `mutation ($app: String!) { startBulkChange(appId: $app, input: { of: { list: USERS }, cancel: {} }) { id } }`,
    { app },
  )
  return errors ? { message: errors[0]?.message } : { started: Boolean(data) }
}

/** Whether the first of so many is still there. */
async function bulkKeptAfter({ dashboard, databaseUrl, fresh }: World, count: number): Promise<boolean> {
  const app = fresh()
  await dashboard.data('mutation ($app: String!) { createApp(id: $app, name: $app) { id } }', { app })
  const sql = (text: string, values: unknown[]) => rowsOf({ connectionString: databaseUrl }, text, values)
  // The last one is started, which drops those that are too old.
  await sql(
    `insert into bulk_change (app_id, id, state, request, member_id, member_email)
     select $1, 'old-' || i, 'CHECKED', '{}', 0, '' from generate_series(1, $2::int) i`,
    [app, count - 1],
  )
  await dashboard.data(
    `mutation ($app: String!) { startBulkChange(appId: $app, input: { of: { list: USERS }, cancel: {} }) { id } }`,
    { app },
  )
  await vi.waitFor(
    async () => {
      const left = await sql(
        `select from graphile_worker.jobs where task_identifier = 'delete-bulk-change'`,
        [],
      )
      expect(left).toEqual([])
    },
    { timeout: PATIENCE_MS, interval: 50 },
  )
  const found = await sql(`select from bulk_change where app_id = $1 and id = 'old-1'`, [app])
  return found.length === 1
}

/** Whether the first of so many imports is still known. */
async function keptAfter(world: World, count: number): Promise<boolean> {
  const cookie = await sessionCookie(world)
  const first = world.fresh()
  for (let i = 0; i < count; i++) {
    await upload(world, cookie, { app: 'default', import: i === 0 ? first : world.fresh() }, 'id,email\n')
  }
  const { errors } = await world.dashboard.ask(
    'query ($id: String!) { userImport(appId: "default", id: $id) { state } }',
    { id: first },
  )
  return errors === undefined
}

/** Exports a user with so many entries in the ledger, part by part. */
async function expectParts(world: World, entries: number, parts: number[]): Promise<void> {
  const id = world.fresh()
  await world.admin.data(CREATE_USER, { input: { id } })
  await rowsOf(
    { connectionString: world.databaseUrl },
    `insert into usage_ledger (app_id, user_uid, feature_id, reset_period, period_start, action, delta, used, recorded_at)
     select u.app_id, u.uid, 'f', 'MONTH', now(), 'ADD', 0, 0, now() from users u, generate_series(1, $2) where u.id = $1`,
    [id, entries],
  )
  await rowsOf({ connectionString: world.databaseUrl }, 'delete from audit_entry where subject_id = $1', [id])
  const sizes: number[] = []
  for (let after: string | null | undefined; after !== null; ) {
    const exportUser = await world.admin.call('exportUser', { id, after })
    // The last page may only have parts that come after it.
    if (exportUser.usageLedger) sizes.push(exportUser.usageLedger.length)
    after = exportUser.next
  }
  expect(sizes).toEqual(parts)
}

/** So many users have the word in their names; so many of them are found. */
async function expectFound({ databaseUrl, dashboard, fresh }: World, users: number, found: number) {
  const word = `word-${fresh()}-`
  await rowsOf(
    { connectionString: databaseUrl, ...UNREPORTED },
    `insert into users (app_id, id, name, metadata)
     select 'default', gen_random_uuid(), 'Ada the ' || $1::text, '{}' from generate_series(1, $2)`,
    [word, users],
  )
  const page = await dashboard.call('users { next rows { id } }', {
    appId: 'default',
    search: word,
    first: 500,
  })
  expect(page.next).toBeNull()
  expect(page.rows).toHaveLength(found)
}

/** Apps by the number of their subscriptions, which the rows with the same number share. */
const crowded = new WeakMap<World, Map<number, string>>()

/** The first page of an app with that many cancelled subscriptions, and one more if asked. */
async function subscriptionsOf(
  world: World,
  many: number,
  more: 0 | 1,
  state: string | null,
  order = 'NEWEST',
) {
  const connection = { connectionString: world.databaseUrl, ...UNREPORTED }
  const appId = await crowdedApp(world, connection, many)
  const last = `s${many + 1}`
  if (more) {
    await rowsOf(
      connection,
      `insert into subscription (app_id, id, user_uid, package_id, is_addon, started_at, anchor, cancelled_at)
       select app_id, $2, user_uid, package_id, is_addon, now(), now(), now() from subscription where app_id = $1 and id = 's2'`,
      [appId, last],
    )
  }
  const first = order === 'NEWEST' ? {} : { first: 1 }
  const page = await world.dashboard.call('subscriptions { next rows { id } total { count more } }', {
    appId,
    state,
    order,
    ...first,
  })
  await rowsOf(connection, 'delete from subscription where app_id = $1 and id = $2', [appId, last])
  return page
}

/** Its oldest subscription is the only one with a price. */
async function crowdedApp(world: World, connection: pg.ClientConfig, many: number): Promise<string> {
  const apps = crowded.get(world) ?? new Map<number, string>()
  crowded.set(world, apps)
  const known = apps.get(many)
  if (known) return known
  const app = world.fresh()
  await rowsOf(connection, `insert into app (id, name) values ($1, 'Many')`, [app])
  await rowsOf(
    connection,
    `insert into package (app_id, id, name, status, is_addon, metadata, updated_at)
     values ($1, 'p', 'P', 'PUBLISHED', false, '{}', now())`,
    [app],
  )
  await rowsOf(
    connection,
    `with u as (insert into users (app_id, id, metadata) values ($1, 'u', '{}') returning uid),
     price as (insert into price (app_id, provider, id, package_id, amount, currency, interval)
       values ($1, 'sandbox', 'price', 'p', 900, 'usd', 'month')),
     paid as (insert into provider_subscription (app_id, provider, ref, user_uid, status, made_at, live, price_ids, quantities)
       select $1, 'sandbox', 'paid', uid, 'canceled', now(), false, '{price}', '{1}' from u)
     insert into subscription (app_id, id, user_uid, package_id, is_addon, started_at, anchor, cancelled_at, provider,
       provider_ref)
     select $1, 's' || i, uid, 'p', false, now(), now(), now(), case when i = 1 then 'sandbox' end,
       case when i = 1 then 'paid' end
     from u, generate_series(1, $2) i`,
    [app, many],
  )
  apps.set(many, app)
  return app
}
