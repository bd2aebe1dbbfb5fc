import { withClient } from '../../bench/postgres.ts'
import { signedIn } from '../../server/test/harness/client.ts'
import {
  fillVersions,
  type Migrated,
  migrateAndKill,
} from '../../server/test/schema/migration-under-kills.ts'
import { Cluster } from '../harness/cluster.ts'
import { OWNER, startNode } from '../harness/node.ts'
import type { Scenario } from '../scenario.ts'
import type { Trial } from '../trial.ts'

const SUBSCRIPTIONS = 50_000
/** Enough to find out a product that is broken. */
const FEWEST = 2_000

export const migrations: Scenario = {
  name: 'migrations',
  what: 'a migration of 50,000 subscriptions to another version on a node that is killed at a random moment; all subscriptions must have moved or none, a retry must complete the migration once, all nodes must agree, and undoing it must restore everything',
  weight: 4,
  full: { migrations: 20 },
  faults: ['not atomic'],
  breakage: {
    what: 'one subscription in ten is not moved',
    sources: [
      {
        file: 'domain/package-version.ts',
        find: "    if (reach === 'ALL') {",
        replace: "    if (kind === 'MIGRATED' && anchor % 10 === 3) continue\n    if (reach === 'ALL') {",
      },
    ],
  },

  async run(trial: Trial) {
    const cluster = await Cluster.make(trial)
    const databaseUrl = await cluster.createDatabase()
    const node = async () => {
      const { url, admin } = await startNode(trial, { DATABASE_URL: databaseUrl })
      return { admin, dashboard: await signedIn(url, OWNER) }
    }
    const migrated: Migrated = {
      subscriptions: trial.breakage ? FEWEST : SUBSCRIPTIONS,
      nodes: [await node(), await node()],
      sql: (text, values) => withClient(databaseUrl, (client) => client.query(text, values)),
      async start() {
        const { admin, kill } = await startNode(trial, { DATABASE_URL: databaseUrl })
        return { admin, kill: () => kill('SIGKILL') }
      },
    }
    await fillVersions(migrated)
    let moved = 0
    for (let round = 1; trial.goesOn('migrations'); round++) {
      try {
        if (await migrateAndKill(migrated, `round ${round}`, trial.random.next())) moved++
      } catch (error) {
        trial.fault('not atomic', (error as Error).message.replaceAll(/\s+/g, ' '))
      }
      trial.count('migrations')
    }
    trial.notes.push(`${moved} migrations had completed when the node was killed`)
  },
}
