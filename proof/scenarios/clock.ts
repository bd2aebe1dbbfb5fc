import { chmod, mkdtemp, readdir, rename, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { withClient } from '../../bench/postgres.ts'
import { createUsers, publishPackage } from '../../server/test/harness/catalogue.ts'
import { type App, furnish, named } from '../harness/app.ts'
import { Caller } from '../harness/caller.ts'
import { Cluster } from '../harness/cluster.ts'
import { startNode } from '../harness/node.ts'
import type { Scenario } from '../scenario.ts'
import type { Trial } from '../trial.ts'

const LIMIT = 20
const HOUR = 3_600
const DAY = 24 * HOUR
/** Seconds: over the boundaries of hours and days, back and forth, and within a period. */
const STEPS = [-DAY, -3 * HOUR, -HOUR, -1_800, -1, 1, 1_800, HOUR, 3 * HOUR, DAY, 2 * DAY]
/** The first steps of every run: over a boundary and back again. */
const FIRST_STEPS = [HOUR, -HOUR, DAY, -DAY]
const AT_ONCE = 4

const RECORD = `mutation ($input: CreateUsageEventInput!) { recordUsage(input: $input) { recorded } }`
const USAGE = `query ($user: String!, $feature: String!) {
  showUsage(userId: $user, featureId: $feature) { current { periodStart consumption { used } } } }`

export const clock: Scenario = {
  name: 'clock',
  what: "PostgreSQL's clock is stepped back and forth across hour and day boundaries while usage with hourly and daily reset periods is recorded",
  weight: 8,
  full: { steps: 300 },
  faults: [
    'unanswered',
    'unexpected error',
    'lost',
    'counted twice',
    'counter mismatch',
    'over budget',
    'overlapping periods',
  ],
  breakage: {
    what: 'the newest counter is used as that of the current period',
    sources: [
      {
        file: 'store/usage/read-holdings.ts',
        find: `and period_start > coalesce(coalesce(app.test_clock, statement_timestamp()) - \${longest}, '-infinity')
  offset 0)`,
        replace: `and (\${longest} is null or true) order by period_start desc limit 1)`,
      },
    ],
  },

  async unavailable() {
    return (await libfaketime()) ? null : 'libfaketime is not installed (apt-get install faketime)'
  },

  async run(trial: Trial) {
    const time = await steppedClock(trial)
    const cluster = await Cluster.make(trial, { env: time.env })
    const databaseUrl = await cluster.createDatabase()
    const node = await startNode(trial, { DATABASE_URL: databaseUrl })
    const app = await furnish(node, [])
    const users = named('u', 4)
    await subscribeAll(app, users)
    const caller = new Caller(trial)
    const recorded = new Map<string, number>()

    // A stuck lane would stay stuck forever.
    const hangs = () => (trial.faults.get('unanswered')?.count ?? 0) > 0
    for (let step = 0; trial.goesOn('steps', 6) && !hangs(); step++) {
      await time.step(FIRST_STEPS[step] ?? trial.random.pick(STEPS))
      trial.count('steps')
      const calls = users.flatMap((user) =>
        ['hourly', 'daily'].flatMap((feature) =>
          Array.from({ length: AT_ONCE }, async () => {
            const input = { userId: user, featureId: feature, delta: trial.random.int(1, 4) }
            const answer = await caller.ask(node.url, RECORD, { input })
            trial.count('calls')
            const { recordUsage } = answer?.data ?? {}
            if (!recordUsage) trial.fault('unexpected error', JSON.stringify(answer))
            if (recordUsage?.recorded) add(recorded, `${user} ${feature}`, input.delta)
          }),
        ),
      )
      await Promise.all(calls)
      await compare(trial, caller, node.url, databaseUrl, trial.random.pick(users))
    }
    await checkPeriods(trial, databaseUrl, recorded)
  },
}

const add = (sums: Map<string, number>, name: string, more: number) =>
  sums.set(name, (sums.get(name) ?? 0) + more)

async function subscribeAll(app: App, users: readonly string[]): Promise<void> {
  await publishPackage(app, 'timed', {
    hourly: { limit: LIMIT, resetPeriod: 'HOUR' },
    daily: { limit: LIMIT, resetPeriod: 'DAY' },
  })
  await createUsers(app.admin, users)
  for (const id of users) {
    await app.admin.data('mutation ($id: String!) { subscribe(userId: $id, packageIds: ["timed"]) { id } }', {
      id,
    })
  }
}

/** The usage shown for the current period is what the ledger has for it. */
async function compare(trial: Trial, caller: Caller, url: string, databaseUrl: string, user: string) {
  for (const feature of ['hourly', 'daily']) {
    const answer = await caller.ask(url, USAGE, { user, feature })
    const { current } = answer?.data?.showUsage ?? {}
    if (!current) {
      trial.fault('unexpected error', JSON.stringify(answer))
      continue
    }
    const sum = await withClient(databaseUrl, async (client) => {
      const { rows } = await client.query<{ sum: number }>(
        `select coalesce(sum(delta), 0)::int as sum from usage_ledger l join users u on u.uid = l.user_uid
         where u.id = $1 and l.feature_id = $2 and l.period_start = $3`,
        [user, feature, current.periodStart],
      )
      return rows[0]?.sum ?? 0
    })
    const shown = current.consumption.used
    if (shown !== sum) {
      const detail = `${feature} of ${user} from ${current.periodStart} on shows ${shown}, its ledger has ${sum}`
      trial.fault('lost', detail, Math.max(0, sum - shown))
      trial.fault('counted twice', detail, Math.max(0, shown - sum))
    }
  }
}

async function checkPeriods(
  trial: Trial,
  databaseUrl: string,
  recorded: ReadonlyMap<string, number>,
): Promise<void> {
  const rows = await withClient(databaseUrl, async (client) => {
    const found = await client.query<{
      name: string
      start: number
      used: number
      sum: number
      length: number
    }>(
      `select u.id || ' ' || c.feature_id as name, extract(epoch from c.period_start)::float8 as start,
         c.used::int, (select coalesce(sum(delta), 0)::int from usage_ledger l where l.user_uid = c.user_uid
           and l.feature_id = c.feature_id and l.reset_period = c.reset_period and l.period_start = c.period_start) as sum,
         case c.reset_period when 'HOUR' then ${HOUR} else ${DAY} end as length
       from usage_counter c join users u on u.uid = c.user_uid order by 1, 2`,
    )
    return found.rows
  })
  const sums = new Map<string, number>()
  for (const [i, { name, start, used, sum, length }] of rows.entries()) {
    add(sums, name, sum)
    if (used !== sum) trial.fault('counter mismatch', `a counter of ${name} says ${used}, its ledger ${sum}`)
    if (used > LIMIT) trial.fault('over budget', `${name} has used ${used} of ${LIMIT} in one period`)
    const next = rows[i + 1]
    if (next?.name === name && next.start < start + length)
      trial.fault('overlapping periods', `${name} has counters ${next.start - start} s apart`)
  }
  for (const [name, should] of recorded) {
    const is = sums.get(name) ?? 0
    const detail = `${name} was told of ${should} in all, and the ledger has ${is}`
    trial.fault('lost', detail, Math.max(0, should - is))
    trial.fault('counted twice', detail, Math.max(0, is - should))
  }
}

async function libfaketime(): Promise<string | null> {
  for (const folder of await readdir('/usr/lib').catch(() => [])) {
    const found = join('/usr/lib', folder, 'faketime')
    const names = await readdir(found).catch((): string[] => [])
    if (names.includes('libfaketime.so.1')) return join(found, 'libfaketime.so.1')
  }
  return null
}

/** A clock for the processes that get its environment. */
async function steppedClock(trial: Trial) {
  const folder = await mkdtemp(join(tmpdir(), 'tollgate-proof-clock-'))
  trial.atEnd(() => rm(folder, { recursive: true, force: true }))
  await chmod(folder, 0o755)
  const file = join(folder, 'offset')
  let offset = 0
  const write = async () => {
    // Replaced atomically: it is read all the time.
    await writeFile(`${file}.new`, `${offset < 0 ? '-' : '+'}${Math.abs(offset)}\n`, { mode: 0o644 })
    await rename(`${file}.new`, file)
  }
  await write()
  return {
    env: {
      LD_PRELOAD: (await libfaketime()) ?? '',
      FAKETIME_TIMESTAMP_FILE: file,
      FAKETIME_NO_CACHE: '1',
      // Timers must behave as when a real clock is set.
      FAKETIME_DONT_FAKE_MONOTONIC: '1',
      DONT_FAKE_MONOTONIC: '1',
    },
    async step(seconds: number) {
      offset += seconds
      await write()
    },
  }
}
