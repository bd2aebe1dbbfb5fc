import { execFile } from 'node:child_process'
import { arch, availableParallelism, loadavg, platform, release, totalmem } from 'node:os'
import { promisify } from 'node:util'
import { type Commit, commitText } from '../bench/commit.ts'
import { locateBinaries } from '../server/src/embedded-postgres/folders.ts'
import type { Options } from './options.ts'
import { type Result, resultOf, shareOf, type Verdict } from './prove.ts'
import type { Trial } from './trial.ts'

/** What was done so far, in one line. */
export function figures({ counts }: Trial): string {
  return [...counts].map(([name, count]) => `${number(count)} ${name}`).join(', ')
}

/** The faults that were found: each with its number, and an example of the first. */
export function findings({ faults }: Trial, { all }: { all: boolean }): string {
  const listed = [...faults].filter(([, { count }]) => all || count > 0)
  return listed
    .map(
      ([name, { count, detail }]) =>
        `${number(count)} ${name}${count > 0 ? ` (${detail.slice(0, 160)})` : ''}`,
    )
    .join(', ')
}

/** The result in words; that of a smaller run says how small. */
export function resultText(verdict: Verdict): string {
  const broken = verdict.trial.breakage !== null
  const texts: Record<Result, string> = {
    holds: 'holds',
    partial: `partial: ${percent(shareOf(verdict))} of full size`,
    detected: 'detected',
    red: verdict.failure === null && broken ? 'NOT DETECTED' : 'RED',
    'not run': 'not run',
  }
  return texts[resultOf(verdict)]
}

export interface Run {
  commit: Commit
  options: Options
  sound: readonly Verdict[]
  broken: readonly Verdict[]
  seconds: number
  /** of all scenarios, in the order of the report */
  names: readonly string[]
}

/** docs/proof.md: this run, and nothing of any other. */
export async function markdown({ commit, options, sound, broken, seconds, names }: Run): Promise<string> {
  const facts = await circumstances(commit, options, seconds)
  const rows = (
    verdicts: readonly Verdict[],
    columns: readonly string[],
    cells: (v: Verdict) => string[],
  ) => {
    const lines = names.map((name) => {
      const verdict = verdicts.find(({ scenario }) => scenario.name === name)
      if (!verdict) return rowOf([name, 'not run', 'not selected', ...columns.slice(3).map(() => '')])
      const { skipped } = verdict
      if (skipped !== null) return rowOf([name, 'not run', skipped, ...columns.slice(3).map(() => '')])
      return rowOf([name, bold(resultText(verdict)), ...cells(verdict)])
    })
    return [rowOf(columns), rowOf(columns.map(() => '---')), ...lines].join('\n')
  }
  const ran = names.flatMap(
    (name) => sound.find(({ scenario, skipped }) => scenario.name === name && skipped === null) ?? [],
  )
  return `# Proof

Written by \`npm run proof\`: one run of one commit, with real processes of the service, a real PostgreSQL and real sockets on
one machine.

${facts.map(([name, value]) => `- **${name}**: ${value}`).join('\n')}

## Results

A scenario **holds** if it ran at its full size without a fault. Below its full size it is **partial**, without a fault so far.

${rows(sound, SOUND, soundCells)}

${ran.map(({ scenario, trial }) => `- **${scenario.name}**: ${[sentence(scenario.what), ...trial.notes.map(sentence)].join(' ')}`).join('\n')}

${FAULTS}

## Products broken on purpose

Each scenario also runs against a product that lacks one safeguard, and must detect it.

${rows(broken, BROKEN, brokenCells)}

## Run it again

\`\`\`
${`npm run proof -- --seed ${options.seed}`.padEnd(46)}    # all scenarios at full size
npm run proof -- --seconds 900                    # all scenarios in about 15 minutes: partial results
npm run proof -- --only kills --seconds 60        # one scenario; add --write to replace this report
npm run proof -- --help
\`\`\`

The seed decides the order of events; how processes interleave depends on the machine. \`npm run test:long\` runs a short
selection.
`
}

const SOUND = [
  'scenario',
  'result',
  'done',
  'full size',
  'faults',
  'slowest answer',
  'recovery (median, worst)',
]
const BROKEN = ['scenario', 'result', 'missing safeguard', 'detected by']

const FAULTS = `Faults: **lost** (acknowledged, but not in the database), **counted twice**, **over budget**, **counter mismatch** (a counter
differs from the sum of its ledger entries), **second base plan**, **stale** (an answer that no longer matches the database),
**unanswered** (no response by the deadline), **unexpected error** (an error other than a request to retry), **no recovery** (no
successful call in time after the disruption), **wrong readiness** (\`/readyz\` was wrong for too long).`

function soundCells({ scenario, trial, failure }: Verdict): string[] {
  const recoveries = trial.recoveries.toSorted((a, b) => a - b)
  const median = recoveries[Math.floor(recoveries.length / 2)]
  const worst = recoveries.at(-1)
  const inSeconds = (ms: number) => `${(ms / 1_000).toFixed(2)} s`
  return [
    `${figures(trial)} in ${trial.elapsedSeconds.toFixed(0)} s`,
    Object.entries(scenario.full)
      .map(([name, count]) => `${number(count)} ${name}`)
      .join(', '),
    failure === null ? findings(trial, { all: true }) : `it did not complete: ${failure.split('\n')[0]}`,
    trial.slowest === 0 ? '' : `${trial.slowest.toFixed(0)} ms`,
    median === undefined || worst === undefined ? '' : `${inSeconds(median)}, ${inSeconds(worst)}`,
  ]
}

function brokenCells({ scenario, trial, failure }: Verdict): string[] {
  const by =
    failure === null ? findings(trial, { all: false }) : `it did not complete: ${failure.split('\n')[0]}`
  return [scenario.breakage.what, by]
}

async function circumstances(
  commit: Commit,
  options: Options,
  seconds: number,
): Promise<[name: string, value: string][]> {
  const { postgres } = await locateBinaries(undefined)
  const version = await promisify(execFile)(postgres, ['--version']).then(
    ({ stdout }) => stdout.trim().replace(/^\D+/, ''),
    () => 'unknown',
  )
  const requested = options.seconds === null ? '' : `, with --seconds ${options.seconds}`
  return [
    ['commit', commitText(commit)],
    ['date', new Date().toISOString().slice(0, 16).replace('T', ' ')],
    ['seed', String(options.seed)],
    ['duration', `${seconds.toFixed(0)} s${requested}`],
    [
      'machine',
      `${availableParallelism()} cores (${arch()}), ${(totalmem() / 2 ** 30).toFixed(0)} GB, ${platform()} ${release()}, load ${loadavg()[0]?.toFixed(1)} at the end; shared by clients, proxies, services and PostgreSQL`,
    ],
    ['Node', process.version],
    ['PostgreSQL', version],
  ]
}

const rowOf = (cells: readonly string[]): string => `| ${cells.map(escaped).join(' | ')} |`
const escaped = (text: string): string => text.replaceAll('|', '\\|').replace(/[\r\n]+/g, ' ')
const bold = (result: string): string => (/^[A-Z ]+$/.test(result) ? `**${result}**` : result)

const number = (value: number): string => value.toLocaleString('en')
/** Rounded down, so that what is not complete never reads 100 %. */
const percent = (share: number): string => `${Math.floor(share * 1_000) / 10} %`
const sentence = (text: string): string => `${text.charAt(0).toUpperCase()}${text.slice(1)}.`
