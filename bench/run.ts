import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { runScript, scratchFolder } from './cleanup.ts'
import { findLoadGenerator } from './load-generator.ts'
import { busyWarning, machineFacts } from './machine.ts'
import { type Options, readOptions, USAGE } from './options.ts'
import type { Bench, Pair } from './pair.ts'
import { check } from './pairs/check.ts'
import { events } from './pairs/events.ts'
import { growth } from './pairs/growth.ts'
import { hot } from './pairs/hot.ts'
import { lists } from './pairs/lists.ts'
import { lone } from './pairs/lone.ts'
import { pacing } from './pairs/pacing.ts'
import { record } from './pairs/record.ts'
import { rest } from './pairs/rest.ts'
import { revenue } from './pairs/revenue.ts'
import { spending } from './pairs/spending.ts'
import { users } from './pairs/users.ts'
import { workers } from './pairs/workers.ts'
import { findPgbench, INSTALL_PGBENCH } from './pgbench.ts'
import { plot } from './plot.ts'
import { startPostgres } from './postgres.ts'
import { say } from './progress.ts'
import { markdown, type Row, textTable } from './report.ts'
import { type Database, seededDatabase } from './seed.ts'
import { type Subject, startSubject } from './subject.ts'

const PAIRS: readonly Pair[] = [
  check,
  record,
  events,
  spending,
  rest,
  hot,
  lone,
  pacing,
  workers,
  lists,
  users,
  revenue,
  growth,
]
const DOCS = fileURLToPath(new URL('../docs/', import.meta.url))

async function main(options: Options): Promise<void> {
  const began = performance.now()
  const warning = busyWarning()
  const folder = await scratchFolder('bench')
  const dataDir = options.data ?? join(folder, 'data')
  const postgres = await startPostgres(dataDir)
  const load = await findLoadGenerator()
  const pgbench = await findPgbench(postgres, folder)
  const facts = await machineFacts(dataDir, {
    postgres: postgres.version,
    load: load.name,
    pgbench: pgbench?.name ?? null,
  })
  for (const [what, value] of facts) say(`${what}: ${value}`)
  if (!pgbench) say(INSTALL_PGBENCH)
  if (warning) say(`Warning: ${warning}.`)

  const { scale } = options
  const database = once((users: number): Promise<Database> => seededDatabase(postgres, users))
  const start: Bench['start'] = (on, env) => startSubject(on, scale, load, env)
  const subject = once(async (users: number): Promise<Subject> => start(await database(users)))
  const bench: Bench = { scale, load, pgbench, database, subject: () => subject(scale.users), start }

  const rows: Row[] = []
  for (const pair of PAIRS) {
    if (options.only.length > 0 && !options.only.includes(pair.name)) continue
    say(`\n${pair.name}`)
    const results = await pair.run(bench)
    rows.push(...pair.claims.map((claim, i) => ({ claim, result: results[i] ?? 'nothing was measured' })))
  }
  process.stdout.write(`\n${textTable(rows)}\n`)
  if (warning) process.stdout.write(`\nWarning: ${warning}.\n`)
  if (options.write) {
    const date = new Date().toISOString().slice(0, 10)
    await mkdir(DOCS, { recursive: true })
    await writeFile(join(DOCS, 'benchmarks.md'), markdown(rows, facts, scale, date, warning))
    await writeFile(join(DOCS, 'benchmarks.svg'), plot(rows))
    say('\nwritten: docs/benchmarks.md and docs/benchmarks.svg')
  }
  say(`\n${((performance.now() - began) / 60e3).toFixed(1)} minutes`)
}

/** Creates each value once, on first use. */
function once<T>(make: (users: number) => Promise<T>): (users: number) => Promise<T> {
  const made = new Map<number, Promise<T>>()
  return (users) => {
    const promise = made.get(users) ?? make(users)
    made.set(users, promise)
    return promise
  }
}

await runScript(async () => {
  const names = PAIRS.map((pair) => pair.name)
  const options = readOptions(process.argv.slice(2), names)
  if (options) await main(options)
  else process.stdout.write(USAGE)
})
