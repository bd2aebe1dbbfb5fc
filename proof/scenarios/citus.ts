import { setTimeout as sleep } from 'node:timers/promises'
import { withClient } from '../../bench/postgres.ts'
import { bucketOf } from '../../server/src/store/cells/cells.ts'
import { readBuckets } from '../../server/src/store/cells/move-users.ts'
import { createUsers } from '../../server/test/harness/catalogue.ts'
import { SKIP_THE_RECEIPT } from '../breakages.ts'
import { furnish, named } from '../harness/app.ts'
import { Archiving } from '../harness/archiving.ts'
import type { Outcome } from '../harness/caller.ts'
import { CELLS, keepMoving, keepMovingCells, onPool, spreadOverCells } from '../harness/cells.ts'
import { CitusCluster, type CitusWorker, citusIsMissing } from '../harness/citus.ts'
import type { Cluster } from '../harness/cluster.ts'
import { checkBooks, countedEvents } from '../harness/ledger.ts'
import { type ServiceNode, startNode } from '../harness/node.ts'
import { Resident } from '../harness/resident.ts'
import { Writers } from '../harness/writers.ts'
import type { Scenario } from '../scenario.ts'
import type { Trial } from '../trial.ts'

const WORKERS = 12
/** On workers; the others stay on the coordinator. */
const REMOTE = [2, 3]
/** From the end of a trouble until the users of every cell are served again. */
const BACK_MS = 30_000
/** What a call of a user on the coordinator may take while a worker is in trouble. */
const HELD_UP_MS = 5_000
const LONGEST_FREEZE_MS = 12_000
const LONGEST_CUT_MS = 6_000
/** Somebody commits something on a worker by then. */
const PATIENCE_MS = 10_000

const AT_COMMIT = 'coordinator killed at a commit'
const AT_MOVE = 'worker cut off as users arrive'
const TROUBLES = [
  'worker killed',
  'worker frozen',
  'worker cut off at a commit',
  AT_MOVE,
  'coordinator killed',
  AT_COMMIT,
  'service killed',
] as const
type Trouble = (typeof TROUBLES)[number]

export const citus: Scenario = {
  name: 'citus',
  what: `two nodes on a Citus cluster, users in ${CELLS} cells, two of them on workers; users are constantly moved between cells, cells between workers, and ledgers into archives; under concurrent calls with idempotency keys, a worker, the coordinator or a node is killed, or a worker frozen or cut off, at random moments and during commits`,
  weight: 10,
  full: { disruptions: 30 },
  faults: [
    'lost',
    'counted twice',
    'over budget',
    'counter mismatch',
    'second base plan',
    'not found',
    'unanswered',
    'unexpected error',
    'no recovery',
    'blocked',
  ],
  // Almost every commit that writes on two servers is made in two phases by Citus itself.
  breakage: SKIP_THE_RECEIPT,

  async unavailable() {
    return citusIsMissing ? 'needs a PostgreSQL with Citus, postgres_fdw and pg_trgm' : null
  },

  async run(trial: Trial) {
    const cluster = await CitusCluster.make(trial, REMOTE.length)
    const { url } = cluster
    const nodes = [
      await startNode(trial, { DATABASE_URL: url }),
      await startNode(trial, { DATABASE_URL: url }),
    ]
    const users = named('u', 8)
    const { admin } = await furnish(nodes[0] as ServiceNode, users)
    const places = REMOTE.map((cell, i): [number, string] => [cell, cluster.workerNames[i] as string])
    await spreadOverCells(url, new Map(places))

    const watch = new Watch(trial)
    const residents = await settle(trial, url, users, nodes, watch, (ids) => createUsers(admin, ids))
    const writers = new Writers(trial, {
      url: (worker) => (nodes[worker % nodes.length] as ServiceNode).url,
      users,
      workers: WORKERS,
    })
    const move = () => [
      keepMoving(trial, async () => url, users),
      keepMovingCells(trial, async () => url, REMOTE, cluster.workerNames),
    ]
    let moving = move()
    // A broken product is found out by what is in the ledger.
    const archiving = trial.breakage ? null : await Archiving.make(trial, url)
    const archives = archiving?.keepOn()
    /** From then on every user is in one place: servers that are read one after the other show who is moved in both. */
    const stopMoving = async () => {
      await Promise.all(moving.map((each) => each.stop()))
      if (!(await cluster.settled()))
        trial.fault('no recovery', 'what was prepared on a worker was never ended')
    }
    while (trial.goesOn('disruptions', trial.breakage ? 15 : TROUBLES.length)) {
      await writers.reach(trial.random.int(1, 120))
      const trouble = trial.breakage ? AT_COMMIT : trial.random.pick(TROUBLES)
      await strike(trial, trouble, cluster, nodes, watch)
      trial.count('disruptions')
      trial.count(trouble)
      await back(trial, trouble, residents)
      for (const node of nodes)
        if (node.ended) trial.fault('no recovery', `a node ended by itself: ${node.output().slice(-300)}`)
      // Checked early: a product already found broken need not be killed any more.
      if (trial.breakage && (await writers.reach(2 * WORKERS))) {
        await stopMoving()
        await withClient(url, (client) => countedEvents(trial, client))
        moving = move()
      }
    }
    await archives?.stop()
    await stopMoving()
    await writers.finish()
    await Promise.all(residents.map(({ resident }) => resident.finish()))
    const recorded = [...writers.recorded, ...residents.flatMap(({ resident }) => resident.recorded)]
    await checkBooks(trial, url, { recorded, subscribed: writers.subscribed }, await archiving?.finish())
  },
}

interface Placed {
  cell: number
  resident: Resident
}

/** For each cell and node, a user in a bucket that is not moved. */
async function settle(
  trial: Trial,
  url: string,
  moved: readonly string[],
  nodes: readonly ServiceNode[],
  watch: Watch,
  create: (ids: string[]) => Promise<unknown>,
): Promise<Placed[]> {
  const buckets = await onPool(url, readBuckets)
  const taken = new Set(moved.map((user) => bucketOf('default', user)))
  const candidates = named('resident', 1_000).filter((id) => !taken.has(bucketOf('default', id)))
  const placed = nodes.flatMap((node, i) =>
    Array.from({ length: CELLS }, (_, cell) => {
      const found = candidates.findIndex((id) => buckets[bucketOf('default', id)] === cell)
      return { node, cell, user: candidates.splice(found, 1)[0] as string, place: i * CELLS + cell + 1 }
    }),
  )
  await create(placed.map(({ user }) => user))
  for (const { node, user } of placed)
    await node.admin.data(`mutation ($id: String!) { subscribe(userId: $id, packageIds: ["plan"]) { id } }`, {
      id: user,
    })
  return placed.map(({ node, cell, user, place }) => ({
    cell,
    resident: new Resident(trial, {
      user,
      others: moved,
      url: node.url,
      // Apart from the numbers of all others.
      first: place * 10_000_000,
      asked: (call, began, ms, outcome) => {
        if (!REMOTE.includes(cell)) watch.asked(call, began, ms, outcome)
      },
    }),
  }))
}

/** Looks after the calls of users on the coordinator that begin while a worker is in trouble. */
class Watch {
  readonly #trial: Trial
  readonly #troubles: { what: Trouble; from: number; to: number }[] = []

  constructor(trial: Trial) {
    this.#trial = trial
  }

  async during(what: Trouble, work: () => Promise<void>): Promise<void> {
    const trouble = { what, from: performance.now(), to: Number.POSITIVE_INFINITY }
    this.#troubles.push(trouble)
    await work()
    trouble.to = performance.now()
  }

  asked(call: string, began: number, ms: number, outcome: Outcome): void {
    const trouble = this.#troubles.find(({ from, to }) => began >= from && began <= to)
    if (!trouble) return
    this.#trial.count('calls during a disruption')
    if (ms > HELD_UP_MS || !outcome?.data || outcome.errors)
      this.#trial.fault(
        'blocked',
        `${call}, ${trouble.what}: ${ms.toFixed(0)} ms, ${JSON.stringify(outcome)}`,
      )
  }
}

async function strike(
  trial: Trial,
  trouble: Trouble,
  { coordinator, workers }: CitusCluster,
  nodes: readonly ServiceNode[],
  watch: Watch,
): Promise<void> {
  const worker = trial.random.pick(workers)
  if (trouble === 'service killed') {
    const node = trial.random.pick(nodes)
    await node.kill('SIGKILL')
    await node.start()
  } else if (trouble === 'coordinator killed') {
    await restart(coordinator)
  } else if (trouble === AT_COMMIT) {
    // The worker has done it, and the coordinator does not know yet.
    await passes(worker, PREPARES_OR_COMMITS, () => queueMicrotask(() => holdUp(worker)))
    await coordinator.kill()
    worker.proxy.trouble = 'none'
    await coordinator.start()
  } else if (trouble === 'worker cut off at a commit' || trouble === AT_MOVE) {
    // The coordinator has done it, and the worker is not told.
    await passes(worker, COMMITS_PREPARED, () => cutOff(worker), trouble === AT_MOVE ? BRINGS_USERS : null)
    await watch.during(trouble, async () => {
      cutOff(worker)
      await sleep(trial.random.int(500, LONGEST_CUT_MS))
      worker.proxy.trouble = 'none'
    })
  } else {
    await watch.during(trouble, async () => {
      if (trouble === 'worker killed') return restart(worker.server)
      await worker.server.freeze()
      await sleep(trial.random.int(500, LONGEST_FREEZE_MS))
      await worker.server.thaw()
    })
  }
}

/** Neither READ COMMITTED nor what postgres_fdw sends, which only reads. */
const PREPARES_OR_COMMITS = /PREPARE TRANSACTION|COMMIT(?!TED| TRANSACTION)/
const COMMITS_PREPARED = /COMMIT PREPARED/
const BRINGS_USERS = /COPY \S+\.users_/

const cutOff = ({ proxy }: CitusWorker) => {
  proxy.trouble = 'reset'
}

const holdUp = ({ proxy }: CitusWorker) => {
  proxy.delayMs = PATIENCE_MS
  proxy.trouble = 'delay'
}

/** Until something like that is on its way to the worker, on a connection that had something like `after`, or long enough. */
function passes(
  { proxy }: CitusWorker,
  what: RegExp,
  seen: () => void,
  after: RegExp | null = null,
): Promise<void> {
  const had = new WeakSet()
  return new Promise((resolve) => {
    const end = () => {
      proxy.watch = () => {}
      clearTimeout(late)
      resolve()
    }
    const late = setTimeout(end, PATIENCE_MS)
    proxy.watch = (piece, side, connection) => {
      const text = side === 'request' ? piece.toString('latin1') : ''
      if (after?.test(text)) had.add(connection)
      if (!what.test(text) || (after && !had.has(connection))) return
      end()
      seen()
    }
  })
}

async function restart(server: Cluster): Promise<void> {
  await server.kill()
  await server.start()
}

/** Until the users of every cell have been served again, by every node. */
async function back(trial: Trial, trouble: Trouble, residents: readonly Placed[]): Promise<void> {
  const relieved = performance.now()
  const all = await Promise.all(
    residents.map(async ({ cell, resident }) => {
      if (await resident.succeedsAfter(relieved, BACK_MS)) return true
      trial.fault(
        'no recovery',
        `${trouble}: no call for a user of cell ${cell} succeeded within ${BACK_MS} ms`,
      )
      return false
    }),
  )
  if (!all.includes(false)) trial.recovered(performance.now() - relieved)
}
