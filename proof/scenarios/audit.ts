import { audits } from '../../server/test/audit/audits.ts'
import { connect } from '../../server/test/audit/context.ts'
import { runAudits } from '../../server/test/audit/run.ts'
import { makeDataFolder } from '../../server/test/harness/data-folder.ts'
import { breakDatabase } from '../harness/app.ts'
import { Cluster } from '../harness/cluster.ts'
import { API_KEY, OWNER, startNode } from '../harness/node.ts'
import type { Scenario } from '../scenario.ts'
import type { Trial } from '../trial.ts'

const AT_ONCE = 8

type Settings = Record<string, string>

const INSTALLATIONS: { name: string; settings: Settings; embedded?: boolean }[] = [
  { name: 'a PostgreSQL of its own address', settings: {} },
  { name: 'the embedded PostgreSQL', settings: {}, embedded: true },
  { name: 'two workers', settings: { TOLLGATE_WORKERS: '2' } },
  { name: 'node:http alone', settings: { TOLLGATE_PLAIN_HTTP: 'off' } },
]

export const audit: Scenario = {
  name: 'audit',
  what: 'the whole audit of the spec against several installations: external PostgreSQL, embedded PostgreSQL, two workers, and without the fast path for plain requests',
  weight: 6,
  full: { passes: INSTALLATIONS.length },
  faults: ['failed'],
  breakage: {
    what: 'metadata is not stored',
    sql: `create function forget_metadata() returns trigger language plpgsql as
            $$ begin new.metadata := '{}'; return new; end $$;
          create trigger forget_metadata before insert or update on users
            for each row execute function forget_metadata()`,
  },

  async run(trial: Trial) {
    for (const installation of INSTALLATIONS) {
      if (!trial.goesOn('passes')) break
      await pass(trial, installation)
      trial.count('passes')
    }
  },
}

async function pass(
  trial: Trial,
  { name, settings, embedded = false }: (typeof INSTALLATIONS)[number],
): Promise<void> {
  const database = embedded ? await dataFolder(trial) : await external(trial)
  const node = await startNode(trial, { ...settings, ...database })
  if (database.DATABASE_URL) await breakDatabase(trial, database.DATABASE_URL)
  const contexts = await connect({ url: node.url, key: API_KEY, owner: OWNER })
  await runAudits(audits, contexts, AT_ONCE, ({ id }, outcome) => {
    trial.count('audits')
    if (outcome.kind !== 'held') {
      const why = outcome.kind === 'failed' ? String(outcome.error) : outcome.kind
      trial.fault('failed', `${id} with ${name}: ${why}`)
    }
  })
  await node.kill('SIGTERM')
}

async function dataFolder(trial: Trial): Promise<Settings> {
  const folder = await makeDataFolder()
  trial.atEnd(() => folder.remove())
  return { TOLLGATE_DATA_DIR: folder.path }
}

async function external(trial: Trial): Promise<Settings> {
  const cluster = await Cluster.make(trial)
  return { DATABASE_URL: await cluster.createDatabase() }
}
