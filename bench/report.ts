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

Written by \`npm run bench\` on ${date}. All figures are from that one run.
${warning ? `\n**Warning**: ${warning}.\n` : ''}
![Each figure compared with its goals](benchmarks.svg)

${line(HEADINGS)}
${line(HEADINGS.map((_, i) => (i === 0 || i === HEADINGS.length - 1 ? '---' : '---:')))}
${rows.map((row) => line(cells(row))).join('\n')}

A is Tollgate, B is the baseline. p50 and p99 are those of A. "rounds" is the range of the ratio over the rounds.

${list(notes(rows))}

## What each line measures

${list(rows.map(({ claim }) => [claim.name, claim.what]))}

Unless a line says otherwise, there are ${users.toLocaleString('en')} users, each on one base plan and half of them with a counter, and every request is for a random user${distribution === 'zipf' ? ', by a Zipf distribution (s ≈ 1)' : ''}.
The document is constant and its variables are sent as a string, as an application would. Server, PostgreSQL, load generator and pgbench share the machine.

## How it is measured

A and B alternate for ${rounds} rounds of ${seconds} ${seconds === 1 ? 'second' : 'seconds'} each. The table has the medians. Each server is first warmed up, with every answer checked.
A run fails and writes nothing if a request fails, the server logs a warning, the size of the answers changes, the ledger has not grown by one row per answered call (give or take calls in flight when the load stopped), or a counter differs from the sum of its ledger rows.
pgbench writes the counter and the ledger row in a transaction of two statements and, for comparison, in a single statement, which is the fastest that SQL alone can be. Neither looks up a user or enforces a limit.

## The machine

${list(facts)}

## Accuracy

Ratios are more reliable than absolute figures, and both need an otherwise idle machine. Alternating rounds cancel slow changes, but not other load on the same cores: the scheduler divides CPU among processes, so pgbench with 64 PostgreSQL processes gets more of it than one server process. The report has a warning if the machine was busy at the start; later load is not detected. With few cores the load generator takes CPU from the server, and equally from both sides only if both answer at the same rate.
A verdict is "uncertain" if single rounds would have led to another one, or if there was only one round. A p99 varies most. All connections send their next request immediately, so p99 is the latency of a saturated server.

## Running it again

\`\`\`
npm run bench                    # everything; writes this page and its plot
npm run bench -- --quick         # fewer users, short rounds; writes nothing
npm run bench -- --only check    # one pair
npm run bench -- --help
\`\`\`

It starts its own PostgreSQL and removes everything it created. It uses \`wrk\` if installed, otherwise autocannon, which takes more CPU. Without \`pgbench\` the lines that need it are omitted.
`
}
