import { execFile } from 'node:child_process'
import { arch, availableParallelism, loadavg, platform, release, totalmem } from 'node:os'
import { promisify } from 'node:util'
import { locateBinaries } from '../server/src/embedded-postgres/places.ts'
import { ROOT } from './harness/build.ts'
import type { Options } from './options.ts'
import { BROKEN, noteOf, type Page, rowOf, SOUND } from './page.ts'
import { holds, type Verdict } from './prove.ts'
import type { Trial } from './trial.ts'

/** What was done so far, in one line. */
export function figures({ counts }: Trial): string {
  return [...counts].map(([name, count]) => `${number(count)} ${name}`).join(', ')
}

/** What was found: each fault with its number, and an example of the first. */
export function findings({ faults }: Trial, { all }: { all: boolean }): string {
  const told = [...faults].filter(([, { count }]) => all || count > 0)
  return told
    .map(
      ([name, { count, detail }]) =>
        `${number(count)} ${name}${count > 0 ? ` (${detail.slice(0, 160)})` : ''}`,
    )
    .join(', ')
}

export interface Run {
  options: Options
  sound: readonly Verdict[]
  broken: readonly Verdict[]
  seconds: number
  /** of all scenarios, in the order of the page */
  names: readonly string[]
}

/** docs/proof.md; what this run did not do stays as it was. */
export async function markdown(
  { options, sound, broken, seconds, names }: Run,
  before: Page,
): Promise<string> {
  const { when, facts } = await circumstances(options, seconds)
  const lines = (
    verdicts: readonly Verdict[],
    known: ReadonlyMap<string, string>,
    lineOf: (verdict: Verdict) => string,
  ) =>
    names
      .flatMap((name) => {
        const verdict = verdicts.find(({ scenario }) => scenario.name === name)
        const kept = known.get(name)
        if (verdict && (verdict.skipped === null || kept === undefined)) return lineOf(verdict)
        return kept ?? []
      })
      .join('\n')
  const heading = (columns: readonly string[]) => `${rowOf(columns)}\n${rowOf(columns.map(() => '---'))}`
  return `# Proof

Written by \`npm run proof\`: real processes of the service, a real PostgreSQL, real sockets on one machine. Each row says
which run it is from; a run replaces the rows of the scenarios that it ran. What is not listed here was not tried.

The last run:

${facts.map(([what, value]) => `- **${what}**: ${value}`).join('\n')}

## What was done, and what was found

${heading(SOUND)}
${lines(sound, before.sound, (verdict) => rowOf([...soundCells(verdict), when]))}

${lines(sound, before.notes, ({ scenario, trial }) => noteOf(scenario.name, [`${scenario.what}.`, ...trial.notes.map(sentence)].join(' ')))}

${FAULTS}

## The same against a product broken on purpose

Each scenario has to turn red once the product lacks what makes it hold. One that stays green fails the run.

${heading(BROKEN)}
${lines(broken, before.broken, (verdict) => rowOf([...brokenCells(verdict), when]))}

## Running it again

\`\`\`
npm run proof -- --seconds 900 --seed ${options.seed}
npm run proof -- --only kills --seconds 60      # one scenario, sound and broken
npm run proof -- --only kills --write           # and replace its rows here
npm run proof -- --break                        # only the broken products
npm run proof -- --help
\`\`\`

The seed decides what happens in which order; how the processes overlap is up to the machine. Without \`--seconds\` every
scenario runs to its full size. \`npm run test:long\` runs a short selection.
`
}

const FAULTS = `What is looked for: **lost** (acknowledged and not in the database), **doubled** (counted twice), **over budget**,
**astray** (a counter that is not the sum of its ledger rows), **second base plan**, **stale** (an answer that the database
did not hold any more), **unanswered** (no answer and no refusal by the deadline), **unclear** (an error other than "come back later"),
**not back** (no success in time after the trouble ended), **not ready** (\`/readyz\` did not tell in time).`

function soundCells(verdict: Verdict): string[] {
  const { scenario, trial, failure, skipped } = verdict
  if (skipped !== null) return [scenario.name, skipped, '', '', '', '', 'skipped']
  const full = Object.entries(scenario.full).map(
    ([name, count]) => `${percent((trial.counts.get(name) ?? 0) / count)} of ${number(count)} ${name}`,
  )
  const recoveries = trial.recoveries.toSorted((a, b) => a - b)
  const median = recoveries[Math.floor(recoveries.length / 2)]
  const worst = recoveries.at(-1)
  return [
    scenario.name,
    `${figures(trial)} in ${trial.elapsedSeconds.toFixed(0)} s`,
    full.join(', '),
    failure === null
      ? findings(trial, { all: true })
      : `it did not run to its end: ${failure.split('\n')[0]}`,
    `${trial.slowest.toFixed(0)} ms`,
    median === undefined || worst === undefined
      ? ''
      : `${(median / 1_000).toFixed(2)} s, ${(worst / 1_000).toFixed(2)} s`,
    holds(verdict) ? 'holds' : '**RED**',
  ]
}

function brokenCells(verdict: Verdict): string[] {
  const { scenario, trial, failure, skipped } = verdict
  const { what } = scenario.breakage
  if (skipped !== null) return [scenario.name, what, skipped, 'skipped']
  const noticed = failure === null ? findings(trial, { all: false }) || 'nothing' : failure.split('\n')[0]
  return [scenario.name, what, noticed ?? '', holds(verdict) ? 'turned red, as it must' : '**STAYED GREEN**']
}

async function circumstances(
  options: Options,
  seconds: number,
): Promise<{ when: string; facts: [string, string][] }> {
  const told = (command: string, ...args: string[]) =>
    promisify(execFile)(command, args, { cwd: ROOT }).then(
      ({ stdout }) => stdout.trim(),
      () => 'unknown',
    )
  const { postgres } = await locateBinaries(undefined)
  const changed = (await told('git', 'status', '--porcelain', '--', 'server', 'sdk', 'proof')) !== ''
  const date = new Date().toISOString().slice(0, 16).replace('T', ' ')
  const commit = `${await told('git', 'rev-parse', '--short', 'HEAD')}${changed ? ' with local changes' : ''}`
  const asked = options.seconds === null ? '' : `, of ${options.seconds} s asked for`
  return {
    when: `${date}, ${commit}, seed ${options.seed}`,
    facts: [
      ['date', date],
      ['commit', commit],
      ['seed', String(options.seed)],
      ['time', `${seconds.toFixed(0)} s${asked}`],
      [
        'machine',
        `${availableParallelism()} cores (${arch()}), ${(totalmem() / 2 ** 30).toFixed(0)} GB, ${platform()} ${release()}, load ${loadavg()[0]?.toFixed(1)} at the end; clients, proxies, services and PostgreSQL share it`,
      ],
      ['Node', process.version],
      ['PostgreSQL', (await told(postgres, '--version')).replace(/^\D+/, '')],
    ],
  }
}

const number = (value: number): string => value.toLocaleString('en')
const percent = (share: number): string =>
  `${share >= 1 ? 100 : (share * 100).toFixed(share < 0.1 ? 1 : 0)} %`
const sentence = (text: string): string => `${text.charAt(0).toUpperCase()}${text.slice(1)}.`
