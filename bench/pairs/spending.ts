import type { LoadResult } from '../load.ts'
import { oneByOne } from '../one-by-one.ts'
import { milliseconds, type Pair, ratioOf, tellRound } from '../pair.ts'
import { RawClient } from '../raw-client.ts'
import { compare, interleave, median } from '../rounds.ts'
import { FEATURE, userId } from '../seed.ts'
import type { Server } from '../server.ts'

const CLIENTS = 16
/** A database of its own: its users have credits afterwards. */
const USERS = 1_001
/** Nobody's plan has it. */
const PAID = 'tokens'
const MANY = 1_000
/** Users of the sides, from 1. */
const BURNER = CLIENTS
const RESERVER = 2 * CLIENTS
const RICH = 3 * CLIENTS + 1

const RECORD = 'mutation ($input: CreateUsageEventInput!) { recordUsage(input: $input) { recorded } }'
const RESERVE = 'mutation ($input: ReservationInput!) { reserveUsage(input: $input) { id reserved } }'
const SETTLE = 'mutation ($id: String!) { settleReservation(id: $id, amount: 5) { state } }'
const CHECK = `query ($userId: String!) {
  canUseFeature(userId: $userId, featureId: "${PAID}") { access consumption { remaining } } }`

export const spending: Pair = {
  name: 'spending',
  claims: [
    {
      name: 'three credits',
      what: `recordUsage taking three units from three credits, and returning them ÷ the same on a plan's counter, ${CLIENTS} clients, each with its own user`,
      bound: '≥',
      must: 0.6,
      aim: null,
    },
    {
      name: 'reserve + settle',
      what: `a reservation and its settlement at half of it ÷ one recordUsage on a plan's counter, ${CLIENTS} clients`,
      bound: '≥',
      must: 0.4,
      aim: null,
    },
    {
      name: '1,000 credits',
      what: 'median latency of canUseFeature for a user with 1,000 credits ÷ for a user with one, one connection',
      bound: '≤',
      must: 1.5,
      aim: null,
    },
  ],
  async run({ scale, database, start }) {
    const subject = await start(await database(USERS))
    const { server } = subject
    await furnish(server)
    const clients = await Promise.all(Array.from({ length: CLIENTS }, () => RawClient.connect(server.url)))
    const records = (featureId: string, first: number) => {
      const deltas = new Array<number>(CLIENTS).fill(3)
      return (seconds: number) =>
        together(clients, seconds, async (client, i) => {
          const delta = deltas[i] ?? 3
          const input = { userId: userId(first + i), featureId, delta }
          const { recordUsage } = await client.ask<Recorded>(RECORD, { input })
          if (!recordUsage.recorded) throw new Error(`${input.userId} did not record ${delta}`)
          deltas[i] = -delta
        })
    }
    const sides = {
      'three credits': records(PAID, 1 + BURNER),
      plain: records(FEATURE, 1),
      'reserve + settle': (seconds: number) =>
        together(clients, seconds, async (client, i) => {
          const input = { userId: userId(1 + RESERVER + i), featureId: PAID, amount: 10 }
          const { reserveUsage } = await client.ask<Reserved>(RESERVE, { input })
          if (reserveUsage.reserved !== 10) throw new Error(`${input.userId} reserved nothing`)
          await client.ask(SETTLE, { id: reserveUsage.id })
        }),
      '1,000 credits': (seconds: number) => checks(clients, userId(RICH), MANY, seconds),
      'one credit': (seconds: number) => checks(clients, userId(1 + RESERVER), null, seconds),
    }
    // The subject has been warmed up with records on plans only.
    for (const side of Object.values(sides)) await side(scale.warmUpSeconds)
    const timed = (side: keyof typeof sides) => () => sides[side](scale.seconds)
    const rounds = await interleave(
      scale.rounds,
      {
        'three credits': timed('three credits'),
        plain: timed('plain'),
        'reserve + settle': timed('reserve + settle'),
        '1,000 credits': timed('1,000 credits'),
        'one credit': timed('one credit'),
      },
      tellRound,
    )
    for (const client of clients) client.close()
    server.checkLog()
    await server.stop()
    const rates = (side: keyof typeof rounds) => rounds[side].map((r) => r.perSecond)
    const latencies = (side: keyof typeof rounds) => rounds[side].map((r) => r.p50)
    const quantiles = (side: keyof typeof rounds) => ({
      p50: median(latencies(side)),
      p99: median(rounds[side].map((r) => r.p99)),
    })
    const checked = compare(latencies('1,000 credits'), latencies('one credit'))
    return [
      { ...ratioOf(compare(rates('three credits'), rates('plain')), '/s'), ...quantiles('three credits') },
      {
        ...ratioOf(compare(rates('reserve + settle'), rates('plain')), '/s'),
        ...quantiles('reserve + settle'),
      },
      {
        a: milliseconds(checked.a),
        b: milliseconds(checked.b),
        value: checked.ratio,
        range: checked.range,
        ...quantiles('1,000 credits'),
      },
    ]
  },
}

/** Adding a credit again has no effect, so a database of an earlier run can be used again. */
async function furnish({ admin }: Server): Promise<void> {
  const { features } = await admin.data('{ features { id } }')
  if (!features.some(({ id }: { id: string }) => id === PAID))
    await admin.data(
      `mutation { createFeature(input: { id: "${PAID}", name: "Tokens", type: CONSUMABLE }) { id } }`,
    )
  const add = (user: number, id: string, amount: number, priority: number) =>
    admin.data('mutation ($input: CreditInput!) { addCredit(input: $input) { id } }', {
      input: { id: `${userId(user)} ${id}`, userId: userId(user), featureId: PAID, amount, priority },
    })
  for (let client = 1; client <= CLIENTS; client++) {
    for (const priority of [1, 2, 3]) await add(BURNER + client, `one unit ${priority}`, 1, priority)
    await add(RESERVER + client, 'much', 1_000_000_000, 50)
    for (const [user, featureId] of [
      [BURNER + client, PAID],
      [client, FEATURE],
    ] as const)
      await admin.data(RECORD, { input: { userId: userId(user), featureId, delta: 0, action: 'SET' } })
  }
  for (let i = 1; i <= MANY; i++) await add(RICH, `one of many ${i}`, 1, i % 100)
}

const checks = ([client]: readonly RawClient[], user: string, remaining: number | null, seconds: number) =>
  oneByOne(seconds, async () => {
    const { access, consumption } = (await client?.ask<Checked>(CHECK, { userId: user }))?.canUseFeature ?? {}
    if (!access || (remaining !== null && consumption?.remaining !== remaining))
      throw new Error(`${user} has ${consumption?.remaining}`)
  })

interface Recorded {
  recordUsage: { recorded: boolean }
}

interface Reserved {
  reserveUsage: { id: string; reserved: number }
}

interface Checked {
  canUseFeature: { access: boolean; consumption: { remaining: number | null } | null }
}

/** Each client repeats its call; the rates are added up. */
async function together(
  clients: readonly RawClient[],
  seconds: number,
  call: (client: RawClient, i: number) => Promise<void>,
): Promise<LoadResult> {
  const results = await Promise.all(clients.map((client, i) => oneByOne(seconds, () => call(client, i))))
  const sum = (of: (result: LoadResult) => number) => results.reduce((total, one) => total + of(one), 0)
  return {
    requests: sum(({ requests }) => requests),
    perSecond: sum(({ perSecond }) => perSecond),
    p50: median(results.map(({ p50 }) => p50)),
    p99: Math.max(...results.map(({ p99 }) => p99)),
    bytesPerAnswer: 0,
  }
}
