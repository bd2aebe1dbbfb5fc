import { setTimeout as sleep } from 'node:timers/promises'
import type { Client } from 'pg'
import { withClient } from '../../bench/postgres.ts'
import { WRITE_WITHOUT_VERSION } from '../breakages.ts'
import { named } from '../harness/app.ts'
import { Cluster } from '../harness/cluster.ts'
import { type ServiceNode, startNode } from '../harness/node.ts'
import { Spenders } from '../harness/spenders.ts'
import {
  AGENT_LIMITS,
  BUDGETS,
  COSTS,
  furnishSpending,
  type Spendable,
  USER_CAPS,
} from '../harness/spending-app.ts'
import type { Scenario } from '../scenario.ts'
import type { Trial } from '../trial.ts'

const WORKERS = 200
const USERS = 40
const RECOVERY_MS = 30_000

export const spending: Scenario = {
  name: 'spending',
  what: `${WORKERS} clients of two nodes reserve, extend, settle (in parts, twice with one key, late), release and forget, record, return and revert usage (also twice) of a feature, of the pool that it draws on and of a feature that only the pool and credits pay for, name up to four entities with caps, edit caps, add and void credits and change plans, while one node or the other is killed by SIGKILL; at every moment used and reserved units must fit into the budgets, the credits and the caps, and afterwards the ledger, the counters, the credits, the caps and the callers' own books must agree`,
  weight: 10,
  full: { kills: 200, calls: 100_000 },
  faults: [
    'over budget',
    'over cap',
    'source mismatch',
    'lost',
    'counted twice',
    'phantom reservation',
    'unanswered',
    'unexpected error',
    'no recovery',
  ],
  breakage: WRITE_WITHOUT_VERSION,

  async run(trial: Trial) {
    const cluster = await Cluster.make(trial)
    const databaseUrl = await cluster.createDatabase()
    const nodes = [
      await startNode(trial, { DATABASE_URL: databaseUrl }),
      await startNode(trial, { DATABASE_URL: databaseUrl }),
    ] as const
    const users = named('u', USERS)
    await furnishSpending(nodes[0], users)
    const urls = nodes.map(({ url }) => url)
    const spenders = new Spenders(trial, { urls: () => urls, users, workers: WORKERS })
    await withClient(databaseUrl, async (client) => {
      let stopped = false
      const watching = (async () => {
        while (!stopped) {
          await checkMoment(trial, client)
          trial.count('moments')
          await sleep(50)
        }
      })()
      watching.catch(() => {})
      // With few kills, until there were enough calls.
      while (trial.goesOn('kills', trial.breakage ? 15 : 2) || (!trial.breakage && trial.goesOn('calls'))) {
        await spenders.reach(trial.random.int(WORKERS, 3 * WORKERS))
        const node = trial.random.pick(nodes)
        const began = performance.now()
        await node.kill('SIGKILL')
        await spenders.reach(trial.random.int(1, WORKERS), RECOVERY_MS)
        await node.start()
        trial.count('kills')
        if (await spenders.reach(1, RECOVERY_MS)) trial.recovered(performance.now() - began)
        else trial.fault('no recovery', `no call succeeded within ${RECOVERY_MS} ms of a kill`)
      }
      await spenders.finish()
      stopped = true
      await watching
      await checkMoment(trial, client)
      await checkLedger(trial, client)
      await checkSpenders(trial, client, spenders)
      await checkCaps(trial, client, spenders)
      if (!trial.red) await checkReleased(trial, client, nodes, users)
    })
  },
}

const PLAN = `(values ${Object.entries(BUDGETS)
  .map(([id, budget]) => `('${id}', ${budget})`)
  .join(', ')}) as plan (feature_id, budget)`

/** What live reservations hold: of the feature's own sources and of its pool's. */
const HELD = `select r.user_uid, r.feature_id, coalesce(p.part -> 'pool' ->> 'featureId', r.feature_id) as of_feature,
    p.part ->> 'credit' as credit, (p.part ->> 'amount')::bigint - (p.part ->> 'settled')::bigint as units,
    coalesce((p.part -> 'pool' ->> 'cost')::numeric, 1) as cost, coalesce((p.part -> 'entities')::jsonb, '[]') as entities
  from usage_reservation r, json_array_elements(r.split) as p (part)
  where r.state = 'HELD' and r.expires_at > clock_timestamp()`

/** No source has less than was taken from it and is held of it, and no cap counts more than its limit. */
async function checkMoment(trial: Trial, client: Client): Promise<void> {
  // One statement sees one moment.
  const { rows } = await client.query<{ id: string; source: string; taken: string; amount: string }>(
    `with part as materialized (${HELD}), held as (
       select user_uid, of_feature as feature_id, credit, sum(units) as units from part group by 1, 2, 3
     ), source as (
       select user_uid, feature_id, null as credit, sum(used) as used, null::bigint as amount from usage_counter group by 1, 2
       union all select user_uid, feature_id, id, used, amount from credit
     ), taken as (
       select coalesce(s.user_uid, h.user_uid) as user_uid, coalesce(s.feature_id, h.feature_id) as feature_id,
         coalesce(s.credit, h.credit) as credit, coalesce(s.used, 0) + coalesce(h.units, 0) as taken, s.amount
       from source s full join held h on h.user_uid = s.user_uid and h.feature_id = s.feature_id
         and coalesce(h.credit, '') = coalesce(s.credit, '')
     ), cap as (
       select k.user_uid, 'the cap ' || k.feature_id || ' ' || k.entity as name,
         case when k.period = 'NEVER' or k.window_start = date_trunc('day', now(), 'UTC') then k.used else 0 end
           + coalesce((select round(sum(p.units / case when p.feature_id = k.feature_id then p.cost else 1 end), 6)
               from part p where p.user_uid = k.user_uid and (p.feature_id = k.feature_id or p.of_feature = k.feature_id)
                 and (k.entity = '' or p.entities ? k.entity)), 0) as taken,
         case when k.entity like 'agent:%' then ${Math.max(...AGENT_LIMITS)} else k."limit" end as most
       from usage_cap k
     )
     select u.id, f.* from (
       select user_uid, coalesce(credit, 'the plan for ' || feature_id) as source, taken, coalesce(amount, budget) as amount
       from taken left join ${PLAN} using (feature_id) where taken > coalesce(amount, budget, 0)
       union all select user_uid, name, taken, most from cap where taken > most
     ) f join users u on u.uid = f.user_uid`,
  )
  for (const { id, source, taken, amount } of rows)
    trial.fault(
      source.startsWith('the cap') ? 'over cap' : 'over budget',
      `${taken} of ${amount} units of ${source} were used or reserved by ${id}`,
    )
}

/** Every counter and every credit is the sum of its ledger entries. */
async function checkLedger(trial: Trial, client: Client): Promise<void> {
  const { rows } = await client.query<{ id: string; source: string; difference: string }>(
    `select u.id, feature_id || ' ' || reset_period as source, sum(amount) as difference from (
       select user_uid, feature_id, reset_period, period_start, used as amount from usage_counter
       union all select user_uid, feature_id, 'CREDIT:' || id, 'epoch', used from credit
       union all select user_uid, feature_id, reset_period, period_start, -delta from usage_ledger) entry
     join users u on u.uid = entry.user_uid
     group by u.id, feature_id, reset_period, period_start having sum(amount) <> 0`,
  )
  for (const { id, source, difference } of rows)
    trial.fault('source mismatch', `${source} of ${id} differs by ${difference} from its ledger`)
}

const NONE: Readonly<Record<Spendable, number>> = { scarce: 0, token: 0, image: 0 }

/** What callers were told is what the database has. */
async function checkSpenders(trial: Trial, client: Client, spenders: Spenders): Promise<void> {
  const compare = comparing(trial)
  // Callers are not told which units the pool paid for: everything is compared in units of the pool.
  const value = { token: 1, ...COSTS }
  const weight = Object.entries(value).map(([id, cost]) => `when '${id}' then ${cost}`)
  const used = await sums(
    client,
    `select u.id, sum(l.delta * case l.feature_id ${weight.join(' ')} end) as units
     from users u join usage_ledger l on l.user_uid = u.uid group by 1`,
  )
  const features = Object.keys(value) as Spendable[]
  for (const user of new Set([...used.keys(), ...spenders.units.keys()])) {
    const told = spenders.units.get(user) ?? NONE
    const units = features.reduce((sum, id) => sum + told[id] * value[id], 0)
    compare(user, units, used.get(user) ?? 0)
  }
  const settled = await sums(client, 'select id, settled as units from usage_reservation')
  for (const [id, told] of spenders.settled) compare(id, told, settled.get(id) ?? -1)
  for (const id of settled.keys())
    if (!spenders.settled.has(id)) trial.fault('phantom reservation', `nobody was told of ${id}`)
  const credits = await sums(client, 'select id, amount as units from credit')
  for (const [id, amount] of spenders.credits) compare(id, amount, credits.get(id) ?? 0)
}

/** Caps without entities have counted what callers were told, whoever paid; those of agents, what their worker was told. */
async function checkCaps(trial: Trial, client: Client, spenders: Spenders): Promise<void> {
  const compare = comparing(trial)
  const counted = await sums(
    client,
    `select u.id || ' ' || k.feature_id || ' ' || k.entity as id, k.used as units
     from usage_cap k join users u on u.uid = k.user_uid where k.entity = '' or k.entity like 'agent:%'`,
  )
  const byAgent = new Map([...counted].map(([name, units]) => [name.split(' ')[2], units]))
  for (const [agent, told] of spenders.agents) compare(`the cap of ${agent}`, told, byAgent.get(agent) ?? -1)
  const ofPool = await sums(
    client,
    `select u.id, sum(l.delta) as units from users u join usage_ledger l on l.user_uid = u.uid
     where l.feature_id = 'token' group by 1`,
  )
  for (const [user, told] of spenders.units) {
    compare(`the cap of ${user}`, told.scarce, counted.get(`${user} scarce `) ?? -1)
    compare(`the cap of the pool of ${user}`, ofPool.get(user) ?? 0, counted.get(`${user} token `) ?? -1)
  }
}

const comparing =
  (trial: Trial) =>
  (what: string, told: number, is: number): void => {
    const detail = `${what}: callers were told of ${told} units, and there are ${is}`
    trial.fault('lost', detail, Math.max(0, told - is))
    trial.fault('counted twice', detail, Math.max(0, is - told))
  }

async function sums(client: Client, query: string): Promise<Map<string, number>> {
  const { rows } = await client.query<{ id: string; units: string }>(query)
  return new Map(rows.map(({ id, units }) => [id, Number(units)]))
}

const CHECK = `query ($id: String!, $featureId: String!) {
  canUseFeature(userId: $id, featureId: $featureId) { consumption { reserved remaining } } }`

/** Once all reservations have ended, nothing is held, and all that is left can be used. */
async function checkReleased(
  trial: Trial,
  client: Client,
  nodes: readonly ServiceNode[],
  users: readonly string[],
): Promise<void> {
  while ((await client.query(HELD)).rows.length > 0) await sleep(100)
  for (const id of users) {
    for (const { admin } of nodes) {
      const before = await leftOf(client, id)
      const told = new Map<Spendable, { reserved: number; remaining: number }>()
      for (const featureId of ['scarce', 'token', 'image'] as const)
        told.set(featureId, (await admin.data(CHECK, { id, featureId })).canUseFeature.consumption)
      const after = await leftOf(client, id)
      // A credit may expire meanwhile.
      for (const [featureId, { reserved, remaining }] of told)
        if (reserved !== 0 || remaining > before[featureId] || remaining < after[featureId])
          trial.fault(
            'phantom reservation',
            `${id} has ${before[featureId]} units of ${featureId} left, and is told of ${remaining}, with ${reserved} reserved`,
          )
    }
  }
}

/** What a user can use of each feature, by the rows of the database. */
async function leftOf(client: Client, user: string): Promise<Record<Spendable, number>> {
  const own = await sums(
    client,
    `select feature_id as id, budget
       - coalesce((select sum(used) from usage_counter c where c.user_uid = u.uid and c.feature_id = plan.feature_id), 0)
       + coalesce((select sum(amount - used) from credit c where c.user_uid = u.uid and c.feature_id = plan.feature_id
           and voided_at is null and (expires_at is null or expires_at > clock_timestamp())), 0) as units
     from users u, ${PLAN} where u.id = '${user}'`,
  )
  const counted = await sums(
    client,
    `select feature_id as id, k.used as units from usage_cap k join users u on u.uid = k.user_uid
     where u.id = '${user}' and k.entity = ''`,
  )
  const capped = (id: Spendable, units: number) =>
    Math.min(units, (USER_CAPS[id] ?? Number.POSITIVE_INFINITY) - (counted.get(id) ?? 0))
  const token = capped('token', own.get('token') ?? 0)
  const withPool = (id: 'scarce' | 'image') => capped(id, (own.get(id) ?? 0) + Math.floor(token / COSTS[id]))
  return { token, scarce: withPool('scarce'), image: withPool('image') }
}
