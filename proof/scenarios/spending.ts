import { setTimeout as sleep } from 'node:timers/promises'
import type { Client } from 'pg'
import { withClient } from '../../bench/postgres.ts'
import { WRITE_WITHOUT_VERSION } from '../breakages.ts'
import { furnish, named, SCARCE_LIMIT } from '../harness/app.ts'
import { Cluster } from '../harness/cluster.ts'
import { type ServiceNode, startNode } from '../harness/node.ts'
import { Spenders } from '../harness/spenders.ts'
import type { Scenario } from '../scenario.ts'
import type { Trial } from '../trial.ts'

const WORKERS = 200
const USERS = 40
const RECOVERY_MS = 30_000

export const spending: Scenario = {
  name: 'spending',
  what: `${WORKERS} clients of two nodes reserve, extend, settle (in parts, twice with one key, late), release and forget, record and revert usage, add and void credits and change plans, while one node or the other is killed by SIGKILL; at every moment used and reserved units must fit into the budget and the credits, and afterwards the ledger, the counters, the credits and the callers' own books must agree`,
  weight: 10,
  full: { kills: 200, calls: 100_000 },
  faults: [
    'over budget',
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
    await furnish(nodes[0], users)
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
      if (!trial.red) await checkReleased(trial, client, nodes, users)
    })
  },
}

const HELD = `select r.user_uid, p.part ->> 'credit' as credit,
    sum((p.part ->> 'amount')::bigint - (p.part ->> 'settled')::bigint) as units
  from usage_reservation r, json_array_elements(r.split) as p (part)
  where r.state = 'HELD' and r.expires_at > clock_timestamp() group by 1, 2`

/** No source has less than was taken from it and is held of it. One statement sees one moment. */
async function checkMoment(trial: Trial, client: Client): Promise<void> {
  const { rows } = await client.query<{ id: string; source: string; taken: string; amount: string }>(
    `with held as (${HELD}), source as (
       select user_uid, null as credit, sum(used) as used, ${SCARCE_LIMIT} as amount from usage_counter
       where feature_id = 'scarce' group by 1
       union all select user_uid, id, used, amount from credit)
     select u.id, coalesce(k.credit, 'the plan') as source, coalesce(s.used, 0) + coalesce(h.units, 0) as taken,
       coalesce(s.amount, ${SCARCE_LIMIT}) as amount
     from source s full join held h on h.user_uid = s.user_uid and coalesce(h.credit, '') = coalesce(s.credit, '')
       cross join lateral (select coalesce(s.user_uid, h.user_uid) as user_uid, coalesce(s.credit, h.credit) as credit) k
       join users u on u.uid = k.user_uid
     where coalesce(s.used, 0) + coalesce(h.units, 0) > coalesce(s.amount, ${SCARCE_LIMIT})`,
  )
  for (const { id, source, taken, amount } of rows)
    trial.fault('over budget', `${taken} of ${amount} units of ${source} were used or reserved by ${id}`)
}

/** Every counter and every credit is the sum of its ledger entries. */
async function checkLedger(trial: Trial, client: Client): Promise<void> {
  const { rows } = await client.query<{ id: string; source: string; difference: string }>(
    `select u.id, reset_period as source, sum(amount) as difference from (
       select user_uid, feature_id, reset_period, period_start, used as amount from usage_counter
       union all select user_uid, feature_id, 'CREDIT:' || id, 'epoch', used from credit
       union all select user_uid, feature_id, reset_period, period_start, -delta from usage_ledger) entry
     join users u on u.uid = entry.user_uid
     group by u.id, feature_id, reset_period, period_start having sum(amount) <> 0`,
  )
  for (const { id, source, difference } of rows)
    trial.fault('source mismatch', `${source} of ${id} differs by ${difference} from its ledger`)
}

/** What callers were told is what the database has. */
async function checkSpenders(trial: Trial, client: Client, spenders: Spenders): Promise<void> {
  const compare = (what: string, told: number, is: number) => {
    const detail = `${what}: callers were told of ${told} units, and there are ${is}`
    trial.fault('lost', detail, Math.max(0, told - is))
    trial.fault('counted twice', detail, Math.max(0, is - told))
  }
  const used = await sums(
    client,
    `select u.id, sum(l.delta) as units from users u join usage_ledger l on l.user_uid = u.uid
     where l.feature_id = 'scarce' group by 1`,
  )
  for (const user of new Set([...used.keys(), ...spenders.units.keys()]))
    compare(user, spenders.units.get(user) ?? 0, used.get(user) ?? 0)
  const settled = await sums(client, 'select id, settled as units from usage_reservation')
  for (const [id, told] of spenders.settled) compare(id, told, settled.get(id) ?? -1)
  for (const id of settled.keys())
    if (!spenders.settled.has(id)) trial.fault('phantom reservation', `nobody was told of ${id}`)
  const credits = await sums(client, 'select id, amount as units from credit')
  for (const [id, amount] of spenders.credits) compare(id, amount, credits.get(id) ?? 0)
}

async function sums(client: Client, query: string): Promise<Map<string, number>> {
  const { rows } = await client.query<{ id: string; units: string }>(query)
  return new Map(rows.map(({ id, units }) => [id, Number(units)]))
}

const CHECK =
  'query ($id: String!) { canUseFeature(userId: $id, featureId: "scarce") { consumption { reserved remaining } } }'

/** Once all reservations have ended, nothing is held, and all that is left can be used. */
async function checkReleased(
  trial: Trial,
  client: Client,
  nodes: readonly ServiceNode[],
  users: readonly string[],
): Promise<void> {
  while ((await client.query(HELD)).rows.length > 0) await sleep(100)
  const left = async () =>
    sums(
      client,
      `select u.id, ${SCARCE_LIMIT} - coalesce((select sum(used) from usage_counter c
           where c.user_uid = u.uid and c.feature_id = 'scarce'), 0)
         + coalesce((select sum(amount - used) from credit c where c.user_uid = u.uid and voided_at is null
           and (expires_at is null or expires_at > clock_timestamp())), 0) as units
       from users u`,
    )
  for (const id of users) {
    for (const { admin } of nodes) {
      const before = (await left()).get(id) ?? 0
      const { consumption } = (await admin.data(CHECK, { id })).canUseFeature
      const after = (await left()).get(id) ?? 0
      const { reserved, remaining } = consumption
      // A credit may expire meanwhile.
      if (reserved !== 0 || remaining > before || remaining < after)
        trial.fault(
          'phantom reservation',
          `${id} has ${before} units left, and is told of ${remaining}, with ${reserved} reserved`,
        )
    }
  }
}
