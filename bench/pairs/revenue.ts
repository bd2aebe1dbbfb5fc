import type { Client } from 'pg'
import { signedIn } from '../../server/test/harness/client.ts'
import { oneByOne } from '../one-by-one.ts'
import { milliseconds, type Pair, tellRound } from '../pair.ts'
import { withClient } from '../postgres.ts'
import { compare, interleave, median } from '../rounds.ts'
import { APP } from '../seed.ts'
import { OWNER } from '../server.ts'

const FIGURES = `query ($appId: String!) {
  revenue(appId: $appId, days: 365, fresh: true) {
    new changed cancelled plans { active } mrr { amount } payments { paid paidAmount refundedAmount }
  }
}`
const LIST = `query ($appId: String!) { mrrList(appId: $appId, first: 50) { rows { ref amount } next } }`

export const revenue: Pair = {
  name: 'revenue',
  claims: [
    {
      name: 'revenue',
      what: 'median time to make the figures of the Revenue page for a year, with one subscription per user and every tenth paid for ÷ one bare count of live subscriptions by package through pg',
      bound: '≤',
      must: 5,
      aim: null,
    },
    {
      name: 'revenue list',
      what: 'median time of a page of the list behind its monthly recurring revenue',
      bound: '≤',
      must: 100,
      aim: null,
      unit: 'ms',
    },
  ],
  async run({ scale, subject }) {
    const { server, database } = await subject()
    const dashboard = await signedIn(server.url, OWNER)
    return withClient(database.url, async (client) => {
      await payForSome(client)
      try {
        const sides = {
          figures: (seconds: number) => oneByOne(seconds, () => asked(FIGURES)),
          list: (seconds: number) => oneByOne(seconds, () => asked(LIST)),
          'bare SQL': (seconds: number) => oneByOne(seconds, () => bareCount(client)),
        }
        const asked = async (document: string) => {
          const { revenue, mrrList } = await dashboard.data(document, { appId: APP })
          if (!(revenue?.mrr[0]?.amount > 0 || mrrList?.rows.length === 50))
            throw new Error('nothing was paid')
        }
        for (const side of Object.values(sides)) await side(scale.warmUpSeconds)
        const rounds = await interleave(
          scale.rounds,
          {
            figures: () => sides.figures(scale.seconds),
            list: () => sides.list(scale.seconds),
            'bare SQL': () => sides['bare SQL'](scale.seconds),
          },
          tellRound,
        )
        server.checkLog()
        const { a, b, ratio, range } = compare(
          rounds.figures.map((r) => r.p50),
          rounds['bare SQL'].map((r) => r.p50),
        )
        const listed = median(rounds.list.map((r) => r.p50))
        return [
          { a: milliseconds(a), b: milliseconds(b), value: ratio, range },
          { a: milliseconds(listed), b: null, value: listed },
        ]
      } finally {
        await payForNone(client)
      }
    })
  },
}

/** Every tenth subscription is paid for in the sandbox's currency of the bench; nothing asks its provider. */
async function payForSome(client: Client): Promise<void> {
  await payForNone(client)
  await client.query(
    `insert into price (app_id, provider, id, package_id, amount, currency, interval)
     select $1, 'bench', 'price_' || id, id, 1900, 'usd', 'month' from package where app_id = $1`,
    [APP],
  )
  await client.query(
    `insert into provider_subscription (app_id, provider, ref, user_uid, status, made_at, live, price_ids, quantities, billing_state)
     select app_id, 'bench', 'bench_' || seq, user_uid, 'active', started_at, true, array['price_' || package_id], '{1}', 'active'
     from subscription where app_id = $1 and seq % 10 = 0`,
    [APP],
  )
  await client.query(
    `update subscription set provider = 'bench', provider_ref = 'bench_' || seq where app_id = $1 and seq % 10 = 0`,
    [APP],
  )
  await client.query(
    `insert into payment (app_id, provider, ref, user_uid, subscription_ref, state, amount, currency, at)
     select app_id, 'bench', 'in_' || seq, user_uid, 'bench_' || seq, 'PAID', 1900, 'usd', started_at
     from subscription where app_id = $1 and seq % 10 = 0`,
    [APP],
  )
  await client.query('vacuum analyze subscription, provider_subscription, payment')
}

async function payForNone(client: Client): Promise<void> {
  await client.query(
    `update subscription set provider = null, provider_ref = null where app_id = $1 and provider = 'bench'`,
    [APP],
  )
  for (const table of ['payment', 'provider_subscription', 'price']) {
    await client.query(`delete from ${table} where app_id = $1 and provider = 'bench'`, [APP])
  }
  await client.query('delete from revenue_figures where app_id = $1', [APP])
  await client.query('vacuum subscription')
}

async function bareCount(client: Client): Promise<void> {
  const { rowCount } = await client.query({
    name: 'bare-count',
    text: 'select package_id, count(*) from subscription where app_id = $1 and cancelled_at is null group by 1',
    values: [APP],
  })
  if (!rowCount) throw new Error('nobody has anything')
}
