import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdir, readFile, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { isDeepStrictEqual } from 'node:util'
import { atEnd, scratchFolder } from './cleanup.ts'
import { withClient } from './postgres.ts'
import { run } from './processes.ts'
import { say } from './progress.ts'
import type { Database } from './seed.ts'

const ROOT = fileURLToPath(new URL('..', import.meta.url))

/** A built version of the service on its own PostgreSQL. */
export interface Side {
  name: string
  /** the built server */
  main: string
  database: Database
  /** Vacuums and writes a checkpoint, so that nothing is left to do while the other side is measured. */
  settle(): Promise<void>
}

/** The part of a version's own `bench/` that sets it up. Every version that can be compared has it. */
interface OwnBench {
  cleanUp(): Promise<void>
  startPostgres(dataDir: string): Promise<{ urlOf(database: string): string }>
  seededDatabase(postgres: { urlOf(database: string): string }, users: number): Promise<Database>
}

/** This version and, unless null, another commit, with the same data. The schemas may differ. */
export async function startSides(commit: string | null, users: number): Promise<[Side, Side | null]> {
  const folder = await scratchFolder('versions')
  const current = await startSide('this', ROOT, join(folder, 'data-this'), users)
  if (commit === null) return [current, null]
  const sources = await checkOut(commit, join(folder, 'sources'))
  const other = await startSide(commit, sources, join(folder, 'data-other'), users)
  const [ours, theirs] = [await contentsOf(current), await contentsOf(other)]
  if (!isDeepStrictEqual(ours, theirs)) {
    throw new Error(
      `${commit} has other data than this version: ${JSON.stringify(theirs)} instead of ${JSON.stringify(ours)}`,
    )
  }
  return [current, other]
}

async function startSide(name: string, sources: string, dataDir: string, users: number): Promise<Side> {
  say(`${name}: PostgreSQL and ${users.toLocaleString('en')} users`)
  const { startPostgres, seededDatabase, cleanUp } = await ownBench(sources)
  // Another version's processes are in its own list.
  if (sources !== ROOT) atEnd(cleanUp)
  const postgres = await startPostgres(dataDir)
  const database = await seededDatabase(postgres, users)
  await withClient(postgres.urlOf('postgres'), async (client) => {
    // `settle` does their work between rounds; PostgreSQL would choose the other side's rounds.
    await client.query('alter system set autovacuum = off')
    await client.query(`alter system set checkpoint_timeout = '1d'`)
    await client.query('select pg_reload_conf()')
  })
  const settle = () =>
    withClient(database.url, async (client) => {
      await client.query('vacuum analyze')
      await client.query('checkpoint')
    })
  return { name, main: join(sources, 'server/dist/main.js'), database, settle }
}

async function ownBench(sources: string): Promise<OwnBench> {
  const files = ['cleanup.ts', 'postgres.ts', 'seed.ts'].map((file) => join(sources, 'bench', file))
  const missing = files.find((file) => !existsSync(file))
  if (missing) throw new Error(`a version without ${missing.slice(sources.length + 1)} cannot be compared`)
  const modules = await Promise.all(files.map((file) => import(pathToFileURL(file).href)))
  return Object.assign({}, ...modules)
}

/** The sources of a commit, built by its own script with the packages installed here. */
async function checkOut(commit: string, sources: string): Promise<string> {
  say(`${commit}: build`)
  const archive = execFileSync('git', ['archive', commit], { cwd: ROOT, maxBuffer: 1 << 28 })
  await mkdir(sources)
  execFileSync('tar', ['-x', '-C', sources], { input: archive })
  await symlink(join(ROOT, 'node_modules'), join(sources, 'node_modules'))
  await fetchFormerPackages(sources)
  await run('npm', ['--prefix', join(sources, 'server'), 'run', 'build', '--silent'])
  return sources
}

/** Packages that the commit needs and this version does not. */
async function fetchFormerPackages(sources: string): Promise<void> {
  const manifest = JSON.parse(await readFile(join(sources, 'server/package.json'), 'utf8'))
  const needed: Record<string, string> = { ...manifest.dependencies, ...manifest.devDependencies }
  for (const [name, version] of Object.entries(needed)) {
    if (existsSync(join(ROOT, 'node_modules', name))) continue
    say(`  package ${name} ${version}`)
    const into = join(sources, 'server/node_modules', name)
    await mkdir(into, { recursive: true })
    await run('npm', ['pack', `${name}@${version}`, '--prefer-offline', '--pack-destination', into])
    execFileSync('sh', ['-c', 'tar -xzf *.tgz --strip-components=1'], { cwd: into })
  }
}

/** What both sides must have in common. */
function contentsOf({ database }: Side): Promise<unknown> {
  return withClient(database.url, async (client) => {
    const { rows } = await client.query(
      `select (select count(*) || ' ' || md5(string_agg(id, ' ' order by id)) from users) as users,
         (select string_agg(id || ' ' || type, ', ' order by id) from feature) as features,
         (select string_agg(package_id || ' ' || n, ', ' order by package_id)
          from (select package_id, count(*) as n from subscription group by 1) s) as subscriptions,
         (select count(*) from usage_counter) as counters`,
    )
    return rows[0]
  })
}
