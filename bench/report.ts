import type { Scale } from './options.ts'
import { type Claim, type Figure, figure, type Measurement } from './pair.ts'

export interface Row {
  claim: Claim
  /** what was measured, or why it was not */
  result: Measurement | string
}

export type Verdict = 'aim reached' | 'must reached' | 'short' | 'for comparison' | 'not measured'

export function verdictOf({ claim: { bound, must, aim }, result }: Row): Verdict {
  if (typeof result === 'string') return 'not measured'
  if (must === null) return 'for comparison'
  const reaches = (goal: number) => (bound === '≥' ? result.value >= goal : result.value <= goal)
  if (!reaches(must)) return 'short'
  return aim !== null && reaches(aim) ? 'aim reached' : 'must reached'
}

/** Whether single rounds would have given another verdict, or there were too few of them. */
function isUncertain({ claim, result }: Row): boolean {
  if (typeof result === 'string' || !result.range) return false
  const [low, high] = result.range
  const verdicts = [low, high].map((value) => verdictOf({ claim, result: { ...result, value } }))
  return (
    verdictOf({ claim, result }) !== 'for comparison' &&
    (low === high || verdicts.some((verdict) => verdict !== verdictOf({ claim, result })))
  )
}

const HEADINGS = ['', 'A', 'B', 'A ÷ B', 'rounds', 'p50', 'p99', 'must', 'aim', 'verdict']

function cells(row: Row): string[] {
  const { claim, result } = row
  const goal = (value: number | null) =>
    value === null ? '' : `${claim.bound} ${claim.unit ? figure({ value, unit: claim.unit }) : value}`
  const verdict = isUncertain(row) ? `${verdictOf(row)}, uncertain` : verdictOf(row)
  const goals = [goal(claim.must), goal(claim.aim), verdict]
  if (typeof result === 'string') return [claim.name, '', '', '', '', '', '', ...goals]
  const latency = (value: number | undefined) => (value === undefined ? '' : figure({ value, unit: 'ms' }))
  const optional = (value: Figure | null) => (value ? figure(value) : '')
  return [
    claim.name,
    figure(result.a),
    optional(result.b),
    claim.unit ? '' : result.value.toFixed(2),
    result.range ? result.range.map((v) => v.toFixed(2)).join('–') : '',
    latency(result.p50),
    latency(result.p99),
    ...goals,
  ]
}

/** The table for a terminal. */
export function textTable(rows: readonly Row[]): string {
  const lines = [HEADINGS, ...rows.map(cells)]
  const widths = HEADINGS.map((_, i) => Math.max(...lines.map((line) => line[i]?.length ?? 0)))
  const text = (line: string[]) =>
    line
      .map((cell, i) =>
        i === 0 || i === line.length - 1 ? cell.padEnd(widths[i] ?? 0) : cell.padStart(widths[i] ?? 0),
      )
      .join('  ')
      .trimEnd()
  return [...lines.map(text), '', ...notes(rows).map(([name, note]) => `${name}: ${note}`)].join('\n')
}

function notes(rows: readonly Row[]): [name: string, note: string][] {
  return rows.flatMap(({ claim, result }): [string, string][] => {
    const note = typeof result === 'string' ? result : result.note
    return note ? [[claim.name, note]] : []
  })
}

/** docs/benchmarks.md. */
export function markdown(
  rows: readonly Row[],
  facts: readonly [string, string][],
  { rounds, seconds, users, distribution }: Scale,
  date: string,
  warning: string | null,
): string {
  const line = (columns: readonly string[]) => `| ${columns.join(' | ')} |`
  const list = (entries: readonly (readonly [string, string])[]) =>
    entries.map(([name, text]) => `- **${name}**: ${text}`).join('\n')
  return `# Benchmarks

Written by \`npm run bench\` on ${date}. Every figure here was measured in that one run.
${warning ? `\n**Warning**: ${warning}.\n` : ''}
![Each figure against what it must reach](benchmarks.svg)

${line(HEADINGS)}
${line(HEADINGS.map((_, i) => (i === 0 || i === HEADINGS.length - 1 ? '---' : '---:')))}
${rows.map((row) => line(cells(row))).join('\n')}

A is Tollgate and B what it is measured against; p50 and p99 are A's. "rounds" is the range of the ratio from round to round.

${list(notes(rows))}

## What each line measures

${list(rows.map(({ claim }) => [claim.name, claim.what]))}

Unless a line says otherwise there are ${users.toLocaleString('en')} users, each on one base plan, half of them with a counter already, and every request is for one of them at random${distribution === 'zipf' ? ', by a Zipf distribution (s ≈ 1)' : ''}.
The document's text is constant and its variables travel as a string, as an application would send them. Server, PostgreSQL, load generator and pgbench share the machine.

## How it is measured

The sides of a pair take turns, A, B, B, A, for ${rounds} rounds of ${seconds} ${seconds === 1 ? 'second' : 'seconds'} each in one run; the table has the median of the rounds. Every server is first loaded with all answers looked at.
A run fails, and writes nothing, if any request fails, if the server logs a warning, if the size of the answers changes, if the ledger has not grown by as many rows as calls were answered (give or take those in flight when the load stopped), or if a counter differs from the sum of its ledger rows.
pgbench writes the counter and the ledger row as a transaction of two statements, and for comparison in a single statement, the fastest that bare SQL gets. Neither looks up a user or enforces a limit.

## The machine

${list(facts)}

## How far to trust it

Ratios more than figures, and both only from a quiet machine. Taking turns evens out what changes slowly. It does not even out other work on the same cores: CPU is shared out by process, so pgbench with 64 of PostgreSQL's processes then gets more of it than one server process does. The bench warns, above and at its end, if the machine was busy when it started; it does not see what starts later. On few cores the load generator takes its share from the server, and takes it from both sides of a pair alike only as far as both answer at the same rate.
A verdict is "uncertain" where single rounds would have led to another one, or there was only one round: another run may well end otherwise. A p99 moves most. p99 under a closed loop says how long the slowest wait while every connection asks again at once; it is not the latency of a server with room to spare.

## Running it again

\`\`\`
npm run bench                    # everything; writes this page and its plot
npm run bench -- --quick         # fewer users, short rounds; writes nothing
npm run bench -- --only check    # one pair
npm run bench -- --help
\`\`\`

It brings its own PostgreSQL and removes what it made. \`wrk\` is used where it is installed, and autocannon, which takes more of the machine, otherwise. Without \`pgbench\` the lines that need it are left out.
`
}
