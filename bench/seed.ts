import { randomUUID } from 'node:crypto'
import type { Client } from 'pg'
import { signedIn } from '../server/test/harness/client.ts'
import { copyIn } from './copy.ts'
import { type Postgres, withClient } from './postgres.ts'
import { progressBar, say } from './progress.ts'
import { MAIN, OWNER, type Server, startServer } from './server.ts'

export const APP = 'default'
export const FEATURE = 'api-calls'

/** Ids are of one length, so that a load generator can put another user into a request by its place. */
const ID_DIGITS = 7
const PACKAGES = ['starter', 'team', 'business']
const CHUNK = 20_000
const DAY_MS = 86_400_000
const SEEDED = 'seeded by the bench'

/** The id of user `n`, from 1. A string of digits may stand for the number. */
export const userId = (n: number | string): string => `user-${String(n).padStart(ID_DIGITS, '0')}`
/** What a load generator replaces by a user's number, in `userId`. */
export const ANY_USER = '@'.repeat(ID_DIGITS)

const GIVEN = ['Ada', 'Bo', 'Chidi', 'Dolores', 'Emeka', 'Fatima', 'Grace', 'Hiroshi', 'Ines', 'Jakub']
const SYLLABLES = [
  'ba cas del fen gor hul jin kat lov mar nes ost pel quin ras sel tor ubi vel wes',
  'xan yor zim bri cla dro fle gri kro pli ste tra vin wol aku eri ino osa umi ley',
].flatMap((line) => line.split(' '))

/** A name of two words. About 16 of a million users share a surname. */
export function nameOf(n: number): string {
  const [a, b, c] = [n * 7_919, n * 104_729, n * 1_299_709].map(
    (mixed) => SYLLABLES[Math.floor(mixed / 1_000) % SYLLABLES.length] ?? '',
  )
  const surname = `${a}${b}${c}`
  return `${GIVEN[n % GIVEN.length]} ${surname.charAt(0).toUpperCase()}${surname.slice(1)}`
}

export interface Database {
  name: string
  url: string
  users: number
}

/**
 * A database with that many users, each on a base plan that grants the feature by the month, and with half of
 * them counting already. One from an earlier run is reused.
 */
export async function seededDatabase(
  postgres: Pick<Postgres, 'urlOf'>,
  users: number,
  { name = `bench_${users}`, main = MAIN } = {},
): Promise<Database> {
  const database = { name, url: postgres.urlOf(name), users }
  const found = await withClient(postgres.urlOf('postgres'), async (client) => {
    const { rowCount } = await client.query(
      `select from pg_database where datname = $1 and shobj_description(oid, 'pg_database') = $2`,
      [name, SEEDED],
    )
    if (rowCount === 1) return true
    await client.query(`drop database if exists ${name}`)
    await client.query(`create database ${name}`)
    return false
  })
  if (found) return database

  const server = await startServer(database.url, {}, main)
  try {
    await createCatalogue(server)
  } finally {
    await server.stop()
  }
  await withClient(database.url, async (client) => {
    await withoutIndexes(client, () => copyUsers(client, users))
    say('  vacuum, analyze, checkpoint')
    // Every user was written twice: without and with the list of their subscriptions.
    await client.query('vacuum full users')
    await client.query('vacuum analyze')
    await client.query('checkpoint')
    await client.query(`comment on database ${name} is '${SEEDED}'`)
  })
  return database
}

/** The server has migrated the database and created its app; the catalogue is loaded as a customer would. */
async function createCatalogue({ url, admin }: Server): Promise<void> {
  await admin.data(
    `mutation ($feature: String!) {
      calls: createFeature(input: { id: $feature, name: "API calls", type: CONSUMABLE, unitLabel: "call" }) { id }
      sso: createFeature(input: { id: "sso", name: "Single sign-on", type: BINARY }) { id }
    }`,
    { feature: FEATURE },
  )
  const dashboard = await signedIn(url, OWNER)
  for (const id of PACKAGES) {
    // More than any run records: a refusal is different work.
    const calls = { id: FEATURE, entitlement: { limit: 1_000_000_000_000, resetPeriod: 'MONTH' } }
    const input = { id, name: id, features: [calls, { id: 'sso' }] }
    await admin.data('mutation ($input: CreatePackageInput!) { createPackage(input: $input) { id } }', {
      input,
    })
    await dashboard.data(
      'mutation ($app: String!, $id: String!) { publishPackage(appId: $app, id: $id) { id } }',
      {
        app: APP,
        id,
      },
    )
  }
}

/**
 * Makes the indexes at the end, all at once; those of constraints stay, and the one that lists a user's subscriptions, which
 * a trigger reads. Once each on a busy machine, 300,000 users
 * took 21 s so and 48 s with the indexes in place; at 60,000 there was no difference to be seen.
 */
async function withoutIndexes(client: Client, work: () => Promise<void>): Promise<void> {
  const { rows } = await client.query<{ name: string; definition: string }>(
    `select indexrelid::regclass as name, pg_get_indexdef(indexrelid) as definition from pg_index
     where indrelid in ('users'::regclass, 'subscription'::regclass)
       and indexrelid <> 'subscription_live'::regclass and not exists (select from pg_constraint where conindid = indexrelid)`,
  )
  for (const { name } of rows) await client.query(`drop index ${name}`)
  await work()
  await client.query(`set maintenance_work_mem = '256MB'`)
  for (const { name, definition } of rows) {
    say(`  index ${name}`)
    await client.query(definition)
  }
}

async function copyUsers(client: Client, users: number): Promise<void> {
  const bar = progressBar(`  seeding ${users.toLocaleString('en')} users`, users)
  // The middle of a period, so that none ends while we measure.
  const anchor = new Date(Date.now() - 10 * DAY_MS).toISOString()
  bar(0)
  for (let first = 1; first <= users; first += CHUNK) {
    const numbers = Array.from({ length: Math.min(CHUNK, users - first + 1) }, (_, i) => first + i)
    await copyChunk(client, numbers, anchor)
    bar(first + numbers.length - 1)
  }
  await client.query(`select setval(pg_get_serial_sequence('users', 'uid'), $1)`, [users])
}

async function copyChunk(client: Client, numbers: readonly number[], anchor: string): Promise<void> {
  const counting = numbers.filter((n) => n % 2 === 0).map((n) => ({ n, used: 1 + ((n * 7_919) % 1_000) }))
  await client.query('begin')
  // Otherwise the server would publish an event for every row while it is measured.
  await client.query(`select set_config('tollgate.events', 'off', true)`)
  await copyIn(
    client,
    'users (app_id, uid, id, billing_id, name, email, metadata)',
    numbers.map((n) => [APP, n, userId(n), `cus_${n}`, nameOf(n), `user${n}@example.com`, '{}']),
  )
  await copyIn(
    client,
    'subscription (app_id, id, user_uid, package_id, is_addon, started_at, anchor)',
    numbers.map((n) => [
      APP,
      `sub_${randomUUID()}`,
      n,
      PACKAGES[n % PACKAGES.length] ?? '',
      false,
      anchor,
      anchor,
    ]),
  )
  await copyIn(
    client,
    'usage_counter (app_id, user_uid, feature_id, reset_period, period_start, used)',
    counting.map(({ n, used }) => [APP, n, FEATURE, 'MONTH', anchor, used]),
  )
  await copyIn(
    client,
    'usage_ledger (app_id, user_uid, feature_id, reset_period, period_start, action, delta, used, recorded_at)',
    counting.map(({ n, used }) => [APP, n, FEATURE, 'MONTH', anchor, 'ADD', used, used, anchor]),
  )
  await client.query('commit')
}
