import { pino } from 'pino'
import { expect } from 'vitest'
import {
  KNOWN_DEVICE_SECONDS,
  MAX_CLIENT_COST,
  MAX_COST,
  MAX_INTROSPECTION_COST,
  MAX_MEMBER_COST,
  MAX_RATE_LIMIT_SOURCES,
  MAX_VISITOR_TOKENS,
  MAX_WAITING_PASSWORDS,
  SIGN_IN_ACCOUNT_EVERY_MS,
  SIGN_IN_ACCOUNT_TRIES,
  SIGN_IN_ADDRESS_EVERY_MS,
  SIGN_IN_ADDRESS_TRIES,
  SIGN_IN_EVERY_MS,
  SIGN_IN_TRIES,
} from '../../src/domain/limits.ts'
import { RateLimit } from '../../src/http/rate-limit.ts'
import type { Service } from '../../src/operations/call/service.ts'
import { guess, guessSources } from '../../src/operations/members/guesses.ts'
import { deviceToken, isDeviceOf } from '../../src/operations/members/known-device.ts'
import { BoundedWork } from '../../src/operations/members/password-work.ts'
import { openPool } from '../../src/store/connection/database.ts'
import { Keyring } from '../../src/store/secrets/keyring.ts'
import { Client, dashboardClient } from '../harness/client.ts'
import { createApp } from '../harness/server.ts'
import { type Bound, CREATE_USER, valueBound, type World } from './bound.ts'

export const overloadBounds: Bound[] = [
  valueBound(
    'MAX_COST',
    'what an operation asks the Admin API for',
    { within: MAX_COST, beyond: MAX_COST + 1 },
    ({ admin }, cost) => admin.ask(packagesCosting(cost)),
    /its cost is 200001, the maximum is 200000/,
  ),
  valueBound(
    'MAX_CLIENT_COST',
    'what an operation asks the client API for',
    { within: MAX_CLIENT_COST, beyond: MAX_CLIENT_COST + 1 },
    async (world, cost) => (await userOf(world)).ask(packagesCosting(cost)),
    /its cost is 40001, the maximum is 40000/,
  ),
  valueBound(
    'MAX_MEMBER_COST',
    'what an operation asks the dashboard for',
    { within: MAX_MEMBER_COST, beyond: MAX_MEMBER_COST + 1 },
    async (world, cost) => {
      // Other rows fill the shared app with large packages; reading those would take long and not change the cost.
      const appId = world.fresh()
      await createApp(world, appId)
      return world.dashboard.ask(featuresCosting(cost, appId))
    },
    /its cost is 600001, the maximum is 600000/,
  ),
  valueBound(
    'MAX_INTROSPECTION_COST',
    'what an operation asks about the schema',
    { within: MAX_INTROSPECTION_COST, beyond: MAX_INTROSPECTION_COST + 1 },
    ({ admin }, cost) => admin.ask(introspectionCosting(cost)),
    /\(introspection\): its cost is 150001, the maximum is 150000/,
  ),
  {
    limit: 'MAX_VISITOR_TOKENS',
    what: 'the document of somebody who has not signed in',
    works: async ({ url }) =>
      expect(await visitorsRefusal(url, MAX_VISITOR_TOKENS)).toMatch(/^Email or password/),
    refused: async ({ url }) =>
      expect(await visitorsRefusal(url, MAX_VISITOR_TOKENS + 1)).toMatch(/^Sign in/),
  },
  {
    limit: 'MAX_RATE_LIMIT_SOURCES',
    what: 'sources that are counted; one more, and the oldest is forgotten',
    works: async () => expect(isRememberedAfter(MAX_RATE_LIMIT_SOURCES - 1)).toBe(true),
    refused: async () => expect(isRememberedAfter(MAX_RATE_LIMIT_SOURCES)).toBe(false),
  },
  {
    limit: 'MAX_WAITING_PASSWORDS',
    what: 'passwords that wait to be hashed',
    works: () => expectWaiting(MAX_WAITING_PASSWORDS),
    refused: () =>
      expect(expectWaiting(MAX_WAITING_PASSWORDS + 1)).rejects.toMatchObject({ code: 'RATE_LIMITED' }),
  },
  ...tries(
    'SIGN_IN_TRIES',
    SIGN_IN_TRIES,
    'SIGN_IN_EVERY_MS',
    SIGN_IN_EVERY_MS,
    'for one account from one address',
    (fresh) => [fresh, fresh],
  ),
  ...tries(
    'SIGN_IN_ADDRESS_TRIES',
    SIGN_IN_ADDRESS_TRIES,
    'SIGN_IN_ADDRESS_EVERY_MS',
    SIGN_IN_ADDRESS_EVERY_MS,
    'from one address, each for another account',
    (fresh, i) => [`${fresh} ${i}`, fresh],
  ),
  ...tries(
    'SIGN_IN_ACCOUNT_TRIES',
    SIGN_IN_ACCOUNT_TRIES,
    'SIGN_IN_ACCOUNT_EVERY_MS',
    SIGN_IN_ACCOUNT_EVERY_MS,
    'for one account, each from another address',
    (fresh, i) => [fresh, `${fresh} ${i}`],
  ),
  {
    limit: 'KNOWN_DEVICE_SECONDS',
    what: 'how long an account knows a browser that has signed in to it',
    works: async (world) => expect(await isKnownAfter(world, KNOWN_DEVICE_SECONDS * 1000 - 1)).toBe(true),
    refused: async (world) => expect(await isKnownAfter(world, KNOWN_DEVICE_SECONDS * 1000)).toBe(false),
  },
]

/** An operation of exactly this cost, of fields that cost 10 + 100 * (1 + 10 n), 110 and 1. */
function packagesCosting(cost: number): string {
  const values = Math.floor((cost - 110) / 1_000)
  let left = cost - (110 + 1_000 * values)
  let text = `packages { features { ${'id '.repeat(values)} } }`
  for (let i = 0; left >= 110; i++, left -= 110) text += ` a${i}: packages { id }`
  return `{ ${text} ${'__typename '.repeat(left)} }`
}

/** The same of the dashboard, with a list more: 1,110 + 10,000 n for the first. */
function featuresCosting(cost: number, appId: string): string {
  const values = Math.floor((cost - 1_110) / 10_000) - 1
  const list = (fields: string) => `features(appId: "${appId}") { packages { features { ${fields} } } }`
  const rest = packagesCosting(cost - (1_110 + 10_000 * values))
    .slice(1, -1)
    .replaceAll('packages {', `packages(appId: "${appId}") {`)
  return `{ ${list('id '.repeat(values))} ${rest} }`
}

/** The same about the schema: 11 + 100 * (1 + 10 n), 11 + 100 n and 10 + n. */
function introspectionCosting(cost: number): string {
  const values = Math.floor((cost - 111) / 1_000) - 1
  const left = cost - (111 + 1_000 * values)
  const names = Math.floor((left - 31) / 100)
  return `{ a: __schema { types { fields { ${'name '.repeat(values)} } } }
    b: __schema { types { ${'name '.repeat(names)} } }
    c: __schema { ${'description '.repeat(left - 11 - 100 * names - 10)} } }`
}

async function userOf({ admin, url, fresh }: World): Promise<Client> {
  const id = fresh()
  await admin.data(CREATE_USER, { input: { id } })
  const { generateUserToken } = await admin.data(`mutation { generateUserToken(userId: "${id}") { token } }`)
  return new Client(`${url}/client/graphql`, { Authorization: generateUserToken.token })
}

async function visitorsRefusal(url: string, tokens: number): Promise<string> {
  const rest = 16
  const { message } = await dashboardClient(url).error(
    `mutation { signIn(email: "nobody", password: "x") { ${'email '.repeat(tokens - rest)} } }`,
  )
  return message
}

function isRememberedAfter(others: number): boolean {
  const limit = new RateLimit({ perSecond: 1, burst: 1 }, () => 0)
  limit.take('first')
  for (let i = 0; i < others; i++) limit.take(`other ${i}`)
  expect(limit.sources).toBeLessThanOrEqual(MAX_RATE_LIMIT_SOURCES)
  return !limit.take('first').allowed
}

async function expectWaiting(count: number): Promise<void> {
  const work = new BoundedWork(1, MAX_WAITING_PASSWORDS)
  const all = Array.from({ length: 1 + count }, () => work.run(() => new Promise<void>(setImmediate)))
  await Promise.allSettled(all)
  await Promise.all(all)
}

/** So many wrong passwords, and then one in each interval. */
function tries(
  limit: Bound['limit'],
  most: number,
  every: Bound['limit'],
  everyMs: number,
  what: string,
  names: (fresh: string, i: number) => [account: string, address: string],
): Bound[] {
  /** Whether one more is compared, that long after so many. */
  const isCompared = (world: World, count: number, ms: number): Promise<boolean> =>
    withPool(world, async (service) => {
      const fresh = world.fresh()
      const wrong = (i: number) => guess(service, guessSources(...names(fresh, i), null), async () => false)
      for (let i = 0; i < count; i++) expect(await wrong(i)).toBe(false)
      world.turnClock(ms)
      return wrong(count).then(
        () => true,
        (error: { code: string; retryAfter: number }) => {
          expect(error).toMatchObject({ code: 'RATE_LIMITED', retryAfter: Math.ceil((everyMs - ms) / 1_000) })
          return false
        },
      )
    })
  return [
    {
      limit,
      what: `wrong passwords ${what}`,
      works: async (world) => expect(await isCompared(world, most - 1, 0)).toBe(true),
      refused: async (world) => expect(await isCompared(world, most, 0)).toBe(false),
    },
    {
      limit: every,
      what: `how long the next one waits, ${what}`,
      works: async (world) => expect(await isCompared(world, most, everyMs)).toBe(true),
      refused: async (world) => expect(await isCompared(world, most, everyMs - 1)).toBe(false),
    },
  ]
}

const isKnownAfter = (world: World, ms: number): Promise<boolean> =>
  withPool(world, async (service) => {
    const token = await deviceToken(service, 1)
    world.turnClock(ms - (world.now() % 1_000))
    return isDeviceOf(service, 1, token)
  })

/** As much of a service as these need: the database and the clock of the one whose clock is turned. */
async function withPool<T>({ clocked, now }: World, use: (service: Service) => Promise<T>): Promise<T> {
  const pool = openPool({ connectionString: clocked.databaseUrl }, { max: 1 }, pino({ level: 'silent' }))
  try {
    return await use({ pool, keyring: new Keyring([]), clock: now } as Service)
  } finally {
    await pool.end()
  }
}
