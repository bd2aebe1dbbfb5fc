import { withClient } from '../../bench/postgres.ts'
import { type Crowd, fillCrowd, importMany, V8_LIMITS } from '../../server/test/dashboard/import-of-many.ts'
import { signedIn } from '../../server/test/harness/client.ts'
import { breakDatabase } from '../harness/app.ts'
import { Cluster } from '../harness/cluster.ts'
import { OWNER, startNode } from '../harness/node.ts'
import type { Scenario } from '../scenario.ts'
import type { Trial } from '../trial.ts'

const USERS = 100_000
/** Enough to find out a product that is broken. */
const FEWEST = 20_000

export const importing: Scenario = {
  name: 'import',
  what: 'a large CSV file with good, bad and duplicate rows is checked, applied and undone while some users change; the service has a heap of 64 MB and may grow by 80 MB',
  weight: 5,
  full: { rows: USERS },
  faults: ['differs from file'],
  breakage: {
    what: 'one email address in a hundred is not written',
    sql: `create function skip_the_row() returns trigger language plpgsql as $$ begin return old; end $$;
          create trigger skip_the_row before update on users
            for each row when (new.id like '%00') execute function skip_the_row()`,
  },

  async run(trial: Trial) {
    const users = trial.breakage ? FEWEST : USERS
    const crowd = await makeCrowd(trial, users)
    try {
      await importMany(crowd)
    } catch (error) {
      trial.fault('differs from file', (error as Error).message.replaceAll(/\s+/g, ' '))
    }
    trial.count('rows', users)
  },
}

async function makeCrowd(trial: Trial, users: number): Promise<Crowd> {
  const cluster = await Cluster.make(trial)
  const databaseUrl = await cluster.createDatabase()
  const node = await startNode(trial, { DATABASE_URL: databaseUrl, NODE_OPTIONS: V8_LIMITS })
  const sql: Crowd['sql'] = (text, values) =>
    withClient(databaseUrl, async (client) => (await client.query(text, values)).rows)
  await fillCrowd({ sql, users })
  await breakDatabase(trial, databaseUrl)
  return { users, url: node.url, dashboard: await signedIn(node.url, OWNER), pid: node.pid, sql }
}
