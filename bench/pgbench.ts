import { readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type Distribution, SCATTER } from './distribution.ts'
import { type Postgres, withClient } from './postgres.ts'
import { run, start } from './processes.ts'
import { APP, type Database, FEATURE } from './seed.ts'

export const INSTALL_PGBENCH =
  'pgbench was not found: install PostgreSQL with its contrib programs (Debian: apt-get install postgresql)'

export interface Pgbench {
  name: string
  /** Records calls by bare SQL, for users 1 to `users` at random. */
  record(database: Database, load: PgbenchLoad): Promise<PgbenchResult>
}

/** Begin, two statements and commit, as one writes it; or all in one statement, the fastest that bare SQL gets. */
export type Form = 'transaction' | 'statement'

interface PgbenchLoad {
  form: Form
  users: number
  distribution: Distribution
  clients: number
  seconds: number
}

interface PgbenchResult {
  transactions: number
  perSecond: number
}

/** Null where pgbench is not installed. `folder` is for its script. */
export async function findPgbench(postgres: Postgres, folder: string): Promise<Pgbench | null> {
  for (const command of ['pgbench', ...(await debianPlaces())]) {
    const child = start(command, ['--version'])
    const code = await child.exited.catch(() => null)
    if (code !== 0) continue
    return {
      name: child.output().trim(),
      record: (database, load) => record(command, postgres, folder, database, load),
    }
  }
  return null
}

async function debianPlaces(): Promise<string[]> {
  const root = '/usr/lib/postgresql'
  const versions = await readdir(root).catch(() => [])
  return versions.sort((a, b) => Number(b) - Number(a)).map((version) => join(root, version, 'bin/pgbench'))
}

async function record(
  command: string,
  { host, port, user, password }: Postgres,
  folder: string,
  database: Database,
  { form, users, distribution, clients, seconds }: PgbenchLoad,
): Promise<PgbenchResult> {
  const file = join(folder, `record-${form}.sql`)
  await writeFile(file, `${ANY_USER[distribution]}\n${SCRIPTS[form](await currentPeriod(database))}`)
  const output = await run(
    command,
    [
      ...['-h', host, '-p', String(port), '-U', user],
      ...['-n', '-M', 'prepared', '-f', file, '-D', `users=${users}`],
      `--client=${clients}`,
      `--jobs=${Math.min(2, clients)}`,
      `--time=${seconds + connecting(clients)}`,
      database.name,
    ],
    { PGPASSWORD: password },
  )
  const failed = Number(/failed transactions: (\d+)/.exec(output)?.[1] ?? 0)
  const transactions = Number(/actually processed: (\d+)/.exec(output)?.[1])
  const perSecond = Number(/tps = ([\d.]+)/.exec(output)?.[1])
  if (failed > 0 || !(perSecond > 0)) throw new Error(`pgbench failed: ${output.slice(-500)}`)
  return { transactions, perSecond }
}

/** pgbench's duration includes connecting, its rate does not: seconds to add. */
const connecting = (clients: number): number => Math.round(clients / 100)

/** As `anyUser` in distribution.ts. */
const ANY_USER: Record<Distribution, string> = {
  uniform: '\\set uid random(1, :users)',
  zipf: `\\set rank int((1 + exp(ln(2.0 * :users + 1) * random(0, 999999999) / 1000000000.0)) / 2)
\\set uid :rank * ${SCATTER} % :users + 1`,
}

/** The same counter and ledger row as recordUsage writes. Neither looks anything up or enforces a limit. */
const SCRIPTS: Record<Form, (period: string) => string> = {
  transaction: (period) => `
begin;
insert into usage_counter as c (app_id, user_uid, feature_id, reset_period, period_start, used)
values ('${APP}', :uid, '${FEATURE}', 'MONTH', '${period}', 1)
on conflict (app_id, user_uid, feature_id, reset_period, period_start) do update set used = c.used + 1
returning used \\gset
insert into usage_ledger
  (app_id, user_uid, feature_id, reset_period, period_start, action, delta, used, recorded_at)
values ('${APP}', :uid, '${FEATURE}', 'MONTH', '${period}', 'ADD', 1, :used, now());
commit;
`,
  statement: (period) => `
with counted as (
  insert into usage_counter as c (app_id, user_uid, feature_id, reset_period, period_start, used)
  values ('${APP}', :uid, '${FEATURE}', 'MONTH', '${period}', 1)
  on conflict (app_id, user_uid, feature_id, reset_period, period_start) do update set used = c.used + 1
  returning used)
insert into usage_ledger
  (app_id, user_uid, feature_id, reset_period, period_start, action, delta, used, recorded_at)
select '${APP}', :uid, '${FEATURE}', 'MONTH', '${period}', 'ADD', 1, used, now() from counted;
`,
}

/** The start of the period that the server counts in now: all users share one. */
async function currentPeriod({ url }: Database): Promise<string> {
  return withClient(url, async (client) => {
    const { rows } = await client.query<{ start: string }>(
      `select to_char(max(period_start) at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS.MS"Z"') as start
       from usage_counter where app_id = $1 and user_uid <= 100 and feature_id = $2`,
      [APP, FEATURE],
    )
    return rows[0]?.start ?? ''
  })
}
