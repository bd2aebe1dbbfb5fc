// This version and another commit, measured alternately: what a change costs the hot paths.
import { execFileSync } from 'node:child_process'
import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { build } from 'esbuild'
import { BUNDLE } from '../server/bundle.ts'
import { atEnd, cleanUp, cleanUpOnSignals, isEnding } from './cleanup.ts'
import type { LoadResult } from './load.ts'
import { findLoadGenerator } from './load-generator.ts'
import { busyWarning } from './machine.ts'
import { tellRound } from './pair.ts'
import { startPostgres } from './postgres.ts'
import { say } from './progress.ts'
import { compare, interleave } from './rounds.ts'
import { seededDatabase } from './seed.ts'
import { MAIN } from './server.ts'
import { type Subject, startSubject } from './subject.ts'

const USAGE = `npm run bench:against -- COMMIT [--users N] [--rounds N] [--seconds N]

  Compares check, record and lone of this version with those of COMMIT (0.1.0 or later), in alternating rounds.
`
const ROOT = fileURLToPath(new URL('..', import.meta.url))
const CONNECTIONS = 64

/** What is compared, and whether more of it is better. */
const FIGURES: {
  name: string
  run: (subject: Subject) => Promise<LoadResult>
  value: (result: LoadResult) => number
  unit: string
}[] = [
  { name: 'check', run: (s) => s.check(CONNECTIONS), value: (r) => r.perSecond, unit: '/s' },
  { name: 'record', run: (s) => s.record(CONNECTIONS), value: (r) => r.perSecond, unit: '/s' },
  { name: 'lone', run: (s) => s.check(1), value: (r) => r.p50, unit: ' ms' },
]

async function main(commit: string, users: number, rounds: number, seconds: number): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'tollgate-against-'))
  atEnd(() => rm(folder, { recursive: true, force: true }))
  const other = await buildOf(commit, folder)
  const warning = busyWarning()
  const postgres = await startPostgres(join(folder, 'data'))
  const load = await findLoadGenerator()
  const scale = { rounds, seconds, warmUpSeconds: 3, users, sizes: [] }
  const start = async (name: string, entry: string) =>
    startSubject(await seededDatabase(postgres, users, { name, main: entry }), scale, load, {}, entry)
  const sides = { this: await start('bench_this', MAIN), other: await start('bench_other', other) }

  const lines: string[] = []
  for (const { name, run, value, unit } of FIGURES) {
    say(`\n${name}`)
    for (const side of Object.values(sides)) await run(side)
    const { this: ours, other: theirs } = await interleave(
      rounds,
      { this: () => run(sides.this), other: () => run(sides.other) },
      tellRound,
    )
    const { a, b, ratio, range } = compare(ours.map(value), theirs.map(value))
    const figures = `${a.toPrecision(4)}${unit} against ${b.toPrecision(4)}${unit}`
    lines.push(
      `${name.padEnd(8)} ${ratio.toFixed(3)} (${range.map((r) => r.toFixed(3)).join(' to ')})   ${figures}`,
    )
  }
  process.stdout.write(
    `\nthis ÷ ${commit}, medians of ${rounds} rounds (lowest to highest)\n${lines.join('\n')}\n`,
  )
  if (warning) process.stdout.write(`\nWarning: ${warning}.\n`)
}

/** Built where the packages of this version are found. */
async function buildOf(commit: string, folder: string): Promise<string> {
  const sources = join(folder, 'sources')
  await mkdir(sources)
  const archive = execFileSync('git', ['archive', commit, 'server/src'], { cwd: ROOT, maxBuffer: 1 << 28 })
  execFileSync('tar', ['-x', '-C', sources], { input: archive })
  const outfile = join(ROOT, 'server/dist/against.js')
  atEnd(() => rm(outfile, { force: true }))
  await build({
    ...BUNDLE,
    absWorkingDir: sources,
    entryPoints: ['server/src/main.ts'],
    outfile,
    // The sources stand alone: what they import is installed here.
    nodePaths: ['node_modules', 'server/node_modules'].map((path) => join(ROOT, path)),
    logLevel: 'warning',
  })
  return outfile
}

cleanUpOnSignals()
try {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      users: { type: 'string', default: '100000' },
      rounds: { type: 'string', default: '7' },
      seconds: { type: 'string', default: '4' },
    },
  })
  const [commit] = positionals
  const [users, rounds, seconds] = [values.users, values.rounds, values.seconds].map(Number)
  if (commit && users && rounds && seconds) await main(commit, users, rounds, seconds)
  else process.stdout.write(USAGE)
} catch (error) {
  if (!isEnding()) {
    process.stderr.write(`bench: ${(error as Error).message}\n`)
    process.exitCode = 1
  }
} finally {
  if (!isEnding()) await cleanUp()
}
