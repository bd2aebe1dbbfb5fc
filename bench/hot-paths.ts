import { DISTRIBUTIONS } from './distribution.ts'
import type { LoadResult } from './load.ts'
import { findLoadGenerator } from './load-generator.ts'
import { busyWarning } from './machine.ts'
import { count, readDistribution, type Scale } from './options.ts'
import { tellRound } from './pair.ts'
import { say } from './progress.ts'
import { type Estimate, estimate, estimateText, interleave, intervalText, median } from './rounds.ts'
import { type Subject, startSubject } from './subject.ts'
import { type Side, startSides } from './versions.ts'

const CONNECTIONS = 64

/** The hot paths that are compared, and their speed: more is better. */
const HOT_PATHS: readonly {
  name: string
  run: (subject: Subject) => Promise<LoadResult>
  speed: (result: LoadResult) => number
}[] = [
  { name: 'check', run: (s) => s.check(CONNECTIONS), speed: (r) => r.perSecond },
  { name: 'record', run: (s) => s.record(CONNECTIONS), speed: (r) => r.perSecond },
  // One connection: calls per second at the median latency, which a few slow calls do not change.
  { name: 'lone', run: (s) => s.check(1), speed: (r) => 1e3 / r.p50 },
]

/** The speed of a hot path in this version ÷ in another. */
export interface Compared extends Estimate {
  name: string
}

export const COMPARE_OPTIONS = {
  users: { type: 'string', default: 'uniform' },
  size: { type: 'string', default: '100000' },
  starts: { type: 'string', default: '3' },
  rounds: { type: 'string', default: '4' },
  seconds: { type: 'string', default: '4' },
} as const
type CompareValues = Record<keyof typeof COMPARE_OPTIONS, string>

export const COMPARE_USAGE = `
  --users D      ${DISTRIBUTIONS.join(' or ')}: how often each user occurs in the load (default: uniform)
  --size N       number of users (default: 100000)
  --starts N     times both servers are started; processes of the same build differ in speed (default: 3)
  --rounds N     rounds per start and side, best an even number (default: 4)
  --seconds N    length of a round in seconds (default: 4)
`

/** Measures the hot paths of this version and of a commit in turn, each on its own database, and prints the ratios. */
export async function compareHotPaths(commit: string, values: CompareValues): Promise<Compared[]> {
  const number = (name: keyof CompareValues, most?: number) => count(`--${name}`, values[name], most) ?? 1
  const starts = number('starts')
  const scale: Scale = {
    rounds: number('rounds'),
    seconds: number('seconds'),
    warmUpSeconds: 3,
    users: number('size', 9_999_999),
    distribution: readDistribution(values.users),
    sizes: [],
  }
  const warning = busyWarning()
  const load = await findLoadGenerator()
  const [current, other] = await startSides(commit, scale.users)
  if (!other) throw new Error('there is nothing to compare with')
  const start = ({ database, main }: Side) => startSubject(database, scale, load, {}, main)

  const speeds = HOT_PATHS.map(({ name }) => ({ name, this: [] as number[], other: [] as number[] }))
  for (let started = 1; started <= starts; started++) {
    say(`\nstart ${started} of ${starts}`)
    const subjects = { this: await start(current), other: await start(other) }
    for (const [i, { name, run, speed }] of HOT_PATHS.entries()) {
      say(name)
      for (const side of [current, other]) await side.settle()
      // After a checkpoint, the first change of each page costs more.
      for (const subject of Object.values(subjects)) await run(subject)
      const sides = { this: () => run(subjects.this), other: () => run(subjects.other) }
      const results = await interleave(scale.rounds, sides, tellRound)
      speeds[i]?.this.push(...results.this.map(speed))
      speeds[i]?.other.push(...results.other.map(speed))
    }
    for (const { server } of Object.values(subjects)) await server.stop()
  }

  const rounds = starts * scale.rounds
  const perSecond = (figures: readonly number[]) => `${median(figures).toFixed(0)}/s`
  process.stdout.write(`\nspeed of this version ÷ ${commit}, ${rounds} rounds (${intervalText(rounds)})\n`)
  const compared = speeds.map((s) => ({ name: s.name, ...estimate(s.this, s.other) }))
  for (const [i, s] of speeds.entries()) {
    const ratio = compared[i] && estimateText(compared[i])
    process.stdout.write(
      `${s.name.padEnd(8)} ${ratio}   ${perSecond(s.this)} against ${perSecond(s.other)}\n`,
    )
  }
  if (warning) process.stdout.write(`\nWarning: ${warning}.\n`)
  return compared
}
