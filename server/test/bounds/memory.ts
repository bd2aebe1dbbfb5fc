import { GraphQLObjectType, GraphQLSchema, GraphQLString } from 'graphql'
import { expect } from 'vitest'
import { stripeClient } from '../../src/billing/stripe/client.ts'
import {
  MAX_CACHED_APPS,
  MAX_CACHED_DOCUMENT_BYTES,
  MAX_CACHED_KEYS,
  MAX_REMEMBERED_COUNTERS,
  MAX_REMEMBERED_CREDITS,
  MAX_REMEMBERED_RESERVATIONS,
  MAX_REMEMBERED_SPENDING,
  MAX_SPENDER_RESERVATIONS,
  MAX_STRIPE_CLIENTS,
} from '../../src/domain/limits.ts'
import type { Purse } from '../../src/domain/purse.ts'
import type { Reservation } from '../../src/domain/reservation.ts'
import { Documents } from '../../src/graphql/engine/documents.ts'
import { CounterMemory, type UsageState } from '../../src/operations/usage/counter-memory.ts'
import { CreditMemory } from '../../src/operations/usage/credit-memory.ts'
import { ReservationMemory } from '../../src/operations/usage/reservation-memory.ts'
import { emptyMove } from '../../src/operations/usage/spend.ts'
import { SpenderMemory, type Written } from '../../src/operations/usage/spender-memory.ts'
import { AppCache } from '../../src/store/apps/app-cache.ts'
import type { HomeDb } from '../../src/store/connection/places.ts'
import { monotonic } from '../harness/clocks.ts'
import { counterAt } from '../harness/store.ts'
import type { Bound } from './bound.ts'

/** What is kept in memory: the first of so many is still there, and is forgotten for one more. */
export const memoryBounds: Bound[] = [
  kept('MAX_CACHED_APPS', 'apps', MAX_CACHED_APPS, async (count) => {
    const apps = new AppCache(monotonic)
    for (let i = 0; i < count; i++) await apps.reload(DATABASE, `app-${i}`)
    return apps.known('app-0') !== undefined
  }),
  kept('MAX_CACHED_KEYS', 'API keys', MAX_CACHED_KEYS, async (count) => {
    const apps = new AppCache(monotonic)
    for (let i = 0; i < count; i++) await apps.authenticate(DATABASE, hashNo(i))
    return apps.takeUse().some(({ hash }) => hash === hashNo(0))
  }),
  kept('MAX_REMEMBERED_COUNTERS', 'counters', MAX_REMEMBERED_COUNTERS, async (count) => {
    const memory = new CounterMemory()
    for (let i = 0; i < count; i++) memory.moved(usageOf(i), USAGE_STATE, 1, counterAt('(0,1)'))
    const apps = new AppCache(monotonic)
    await apps.reload(DATABASE, 'any')
    return memory.recall(apps, [{ item: usageOf(0), index: 0 }]).size === 1
  }),
  // One credit each, and one for their user.
  kept('MAX_REMEMBERED_CREDITS', 'credits', MAX_REMEMBERED_CREDITS / 2, async (count) => {
    const memory = new CreditMemory()
    const of = (i: number) => ({ appId: 'a', userId: `user-${i}`, featureId: 'f' })
    for (let i = 0; i < count; i++) memory.keep(of(i), { uid: i, version: 1, credits: [CREDIT] })
    return memory.recall(of(0)) !== null
  }),
  kept('MAX_REMEMBERED_RESERVATIONS', 'users of reservations', MAX_REMEMBERED_RESERVATIONS, async (count) => {
    const memory = new ReservationMemory()
    for (let i = 0; i < count; i++) memory.keep('a', `id-${i}`, `user-${i}`)
    return memory.userOf('a', 'id-0') === 'user-0'
  }),
  // The credit, its feature and its user.
  kept(
    'MAX_REMEMBERED_SPENDING',
    'decisions about credits',
    Math.floor(MAX_REMEMBERED_SPENDING / 3),
    async (count) => {
      const memory = new SpenderMemory(monotonic)
      for (let i = 0; i < count; i++) memory.moved(spentBy(i), 0)
      const apps = new AppCache(monotonic)
      await apps.reload(DATABASE, 'any')
      const { caller } = usageOf(0)
      return memory.recall(apps, { caller, userId: 'user-0', featureId: 'calls' }) !== null
    },
  ),
  kept('MAX_SPENDER_RESERVATIONS', 'reservations of a user', MAX_SPENDER_RESERVATIONS, async (count) => {
    const memory = new SpenderMemory(monotonic)
    for (let i = 0; i < count; i++) memory.moved(reservedBy(i), 0)
    return memory.reservation('any', 'user-0', 'id-0') !== null
  }),
  kept('MAX_STRIPE_CLIENTS', 'clients of Stripe', MAX_STRIPE_CLIENTS, async (count) => {
    const first = stripeClient(`sk_test_bound_${count}_0`, null)
    for (let i = 1; i < count; i++) stripeClient(`sk_test_bound_${count}_${i}`, null)
    return stripeClient(`sk_test_bound_${count}_0`, null) === first
  }),
  // Two bytes for each of 50,000 characters, and 500 for each of 5 tokens, the start and the end.
  kept(
    'MAX_CACHED_DOCUMENT_BYTES',
    'documents',
    Math.floor(MAX_CACHED_DOCUMENT_BYTES / 103_500),
    async (count) => {
      const documents = new Documents(SCHEMA, { cost: 1_000 })
      const first = documents.check(documentNo(0))
      for (let i = 1; i < count; i++) documents.check(documentNo(i))
      return documents.check(documentNo(0)) === first
    },
  ),
]

const CREDIT = {
  ...{
    id: 'c',
    kind: 'PAID' as const,
    priority: 50,
    effectiveAt: 0,
    expiresAt: null,
    voidedAt: null,
    seq: 1,
  },
  ...{ amount: 1, used: 0, reserved: 0 as const, period: null, periodUsed: 0, reason: null },
}

function kept(
  limit: Bound['limit'],
  what: string,
  most: number,
  keepsFirst: (count: number) => Promise<boolean>,
): Bound {
  return {
    limit,
    what: `${what} kept in memory`,
    works: async () => expect(await keepsFirst(most)).toBe(true),
    refused: async () => expect(await keepsFirst(most + 1)).toBe(false),
  }
}

/** Knows every app and every key. */
const DATABASE = {
  query: async () => ({
    rows: [
      {
        appId: 'any',
        app_id: 'any',
        version: 1,
        keys: [],
        revokedTokenKeys: [],
        origins: [],
        features: [],
        packages: [],
      },
    ],
  }),
} as unknown as HomeDb

const hashNo = (i: number): string => i.toString(16).padStart(64, '0')

const SCHEMA = new GraphQLSchema({
  query: new GraphQLObjectType({ name: 'Query', fields: { word: { type: GraphQLString } } }),
})

const documentNo = (i: number): string => `query No${i} { word }`.padEnd(50_000)

const usageOf = (i: number) => ({
  caller: { appId: 'any', actor: { kind: 'service' as const }, deadline: null },
  event: { userId: `user-${i}`, featureId: 'calls', action: 'ADD' as const, delta: 1 },
  key: null,
})

/** A remembered counter without a limit. */
const USAGE_STATE: UsageState = {
  featureId: 'calls',
  entitlement: {
    kind: 'metered',
    allowance: { budget: null, overageEnabled: false, resetPeriod: 'NEVER' },
    anchor: 0,
    period: { start: 0, end: null },
    byOverride: false,
  },
  used: 0,
  now: 0,
  uid: 1,
  counter: counterAt('(0,1)'),
  counted: true,
  spending: null,
  purse: null,
  pool: null,
  basis: { version: 1, user: { tid: '(0,1)', version: '1' }, since: 0, until: 1 },
}

const SPENDING = {
  version: 1,
  live: 0,
  heldUntil: Number.POSITIVE_INFINITY,
  owed: null,
  drawn: null,
  credits: [],
  held: [],
  caps: [],
}
const PURSE: Purse = {
  ...{
    allowance: { budget: 0, overageEnabled: false, resetPeriod: 'NEVER' },
    period: { start: 0, end: null },
  },
  ...{ used: 0, owed: 0, credits: [CREDIT], planReserved: 0, drawnReserved: 0, caps: [], pool: null },
  drawn: { units: 0, parts: [] },
}

/** A user's use of a credit. */
function spentBy(i: number, version = 1): Written {
  const move = emptyMove({
    ...{ appId: 'any', userUid: i, userId: `user-${i}`, version, at: 0, basis: null },
    ref: counterAt('(0,1)'),
  })
  const basis = { version: 1, user: { tid: '(0,1)', version: '1' }, since: 0, until: Number.MAX_SAFE_INTEGER }
  const state = { ...USAGE_STATE, basis, purse: PURSE, spending: SPENDING }
  return { userId: `user-${i}`, move, states: new Map([['calls', state]]), purses: new Map() }
}

/** One more reservation of the same user. */
function reservedBy(i: number): Written {
  const written = spentBy(0, i + 1)
  const row: Reservation = {
    ...{
      id: `id-${i}`,
      featureId: 'calls',
      amount: 1,
      atLeast: 1,
      ttlSeconds: 60,
      metadata: {},
      state: 'HELD',
    },
    ...{ parts: [], settled: 0, late: false, reason: null, createdAt: 0, expiresAt: 60_000 },
  }
  written.move.reservations.push({ isNew: true, row })
  return written
}
