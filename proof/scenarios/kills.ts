import { setTimeout as sleep } from 'node:timers/promises'
import { withClient } from '../../bench/postgres.ts'
import { makeDataFolder } from '../../server/test/harness/data-folder.ts'
import { SKIP_THE_RECEIPT } from '../breakages.ts'
import { furnish, named } from '../harness/app.ts'
import { CELLS, keepMoving, spreadOverCells } from '../harness/cells.ts'
import { checkBooks, countedEvents } from '../harness/ledger.ts'
import { startNode } from '../harness/node.ts'
import { Writers } from '../harness/writers.ts'
import type { Scenario } from '../scenario.ts'
import type { Trial } from '../trial.ts'

const WORKERS = 16
/** From a kill until calls succeed again; PostgreSQL replays its log first. */
const RECOVERY_MS = 30_000

const FAULTS = [
  'lost',
  'counted twice',
  'over budget',
  'counter mismatch',
  'second base plan',
  'unanswered',
  'unexpected error',
  'no recovery',
]

const WHAT =
  'SIGKILL of the service, of its PostgreSQL or of both at random moments, under concurrent calls with idempotency keys; callers that get no answer retry with the same key'

export const kills: Scenario = {
  name: 'kills',
  what: WHAT,
  weight: 20,
  full: { kills: 500 },
  faults: FAULTS,
  breakage: SKIP_THE_RECEIPT,
  run: (trial) => killing(trial, false),
}

export const killsInCells: Scenario = {
  name: 'kills-cells',
  what: `users in ${CELLS} cells that are constantly moved between them; ${WHAT}`,
  weight: 8,
  full: { kills: 100 },
  faults: FAULTS,
  breakage: SKIP_THE_RECEIPT,
  run: (trial) => killing(trial, true),
}

async function killing(trial: Trial, inCells: boolean): Promise<void> {
  const folder = await makeDataFolder()
  trial.atEnd(() => folder.remove())
  const node = await startNode(trial, { TOLLGATE_DATA_DIR: folder.path })
  const users = named('u', 8)
  await furnish(node, users)
  const database = async () => {
    const { host, port, user, password, database } = await folder.connection()
    return `postgresql://${user}:${password}@localhost/${database}?host=${encodeURIComponent(host)}&port=${port}`
  }
  if (inCells) await spreadOverCells(await database())
  const moving = inCells ? keepMoving(trial, database, users) : null
  const writers = new Writers(trial, { url: () => node.url, users, workers: WORKERS })

  const killPostgres = async () => {
    const running = await folder.postmaster()
    if (running) process.kill(running.pid, 'SIGKILL')
  }
  /** What was killed last may still be on its way back, and takes our own connection with it. */
  const look = async (work: (url: string) => Promise<unknown>) => {
    const began = performance.now()
    for (;;) {
      try {
        return await work(await database())
      } catch (error) {
        if (performance.now() - began > RECOVERY_MS)
          throw new Error(`${(error as Error).message}; the service said: ${node.output().slice(-1_000)}`)
        await sleep(100)
      }
    }
  }
  while (trial.goesOn('kills', trial.breakage ? 15 : 3)) {
    await writers.reach(trial.random.int(1, 120))
    const target = trial.random.pick(['service', 'PostgreSQL', 'both'])
    const began = performance.now()
    if (target !== 'PostgreSQL') await node.kill('SIGKILL')
    if (target !== 'service') await killPostgres()
    if (target !== 'PostgreSQL') await node.start()
    trial.count('kills')
    trial.count(`kills of ${target}`)
    if (await writers.reach(1, RECOVERY_MS)) trial.recovered(performance.now() - began)
    else trial.fault('no recovery', `no call succeeded within ${RECOVERY_MS} ms of the kill of ${target}`)
    if (node.ended) trial.fault('no recovery', `the service ended by itself: ${node.output().slice(-300)}`)
    // Checked early: a product already found broken need not be killed any more.
    if (trial.breakage && (await writers.reach(2 * WORKERS)))
      await look((url) => withClient(url, (client) => countedEvents(trial, client)))
  }
  await writers.finish()
  await moving?.stop()
  await look((url) => checkBooks(trial, url, writers))
}
