import { figure } from './pair.ts'
import { type Row, type Verdict, verdictOf } from './report.ts'

const WIDTH = 860
const LEFT = 130
const RIGHT = 250
const TOP = 64
const LINE = 30
/** The axis goes from a quarter of what must be to eight times it. */
const LOWEST = 1 / 4
const HIGHEST = 8

const CLASS: Record<Verdict, string> = {
  'aim reached': 'aim',
  'must reached': 'must',
  short: 'short',
  'for comparison': '',
  'not measured': '',
}

// Colours that keep their contrast on both grounds; text follows the reader's.
const STYLE = `
text { font: 13px system-ui, sans-serif; fill: #24292f; }
.small { font-size: 11px; fill: #57606a; }
.title { font-size: 15px; font-weight: 600; }
.grid { stroke: #8c959f; stroke-opacity: .35; }
.bar-line { stroke: #24292f; stroke-width: 1.5; }
.goal { fill: none; stroke: #24292f; stroke-width: 1.5; }
.aim { fill: #2f8f5b; } .must { fill: #3b7fc4; } .short { fill: #c8642b; }
@media (prefers-color-scheme: dark) {
  text { fill: #e6edf3; } .small { fill: #9198a1; }
  .bar-line, .goal { stroke: #e6edf3; }
}`

/** How many times better than it must be; 1 is just enough. */
const share = (bound: '≥' | '≤', must: number, value: number): number =>
  bound === '≥' ? value / must : must / value

function x(times: number): number {
  const clamped = Math.min(HIGHEST, Math.max(LOWEST, times))
  return LEFT + (Math.log(clamped / LOWEST) / Math.log(HIGHEST / LOWEST)) * (WIDTH - LEFT - RIGHT)
}

/** docs/benchmarks.svg: how each measured figure stands to what it must reach, on one logarithmic axis. */
export function plot(rows: readonly Row[]): string {
  const measured = rows.filter(({ claim, result }) => typeof result !== 'string' && claim.must !== null)
  const bottom = TOP + measured.length * LINE
  const ticks = [1 / 4, 1 / 2, 1, 2, 4, 8]
  const grid = ticks.map(
    (
      t,
    ) => `<line class="${t === 1 ? 'bar-line' : 'grid'}" x1="${px(x(t))}" x2="${px(x(t))}" y1="${TOP - 6}" y2="${bottom}"/>
<text class="small" x="${px(x(t))}" y="${TOP - 12}" text-anchor="middle">${t < 1 ? `1/${1 / t}` : t}×</text>`,
  )
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${bottom + 34}" role="img" aria-label="Measured figures against what they must reach">
<style>${STYLE}</style>
<text class="title" x="12" y="24">How many times better than it must be</text>
${grid.join('\n')}
${measured.map((row, i) => bar(row, TOP + i * LINE)).join('\n')}
<text class="small" x="12" y="${bottom + 24}">Longer is better. The line at 1× is what must be; a diamond is what is aimed at. Green reaches the aim, blue what must be, orange falls short.</text>
</svg>
`
}

function bar(row: Row, y: number): string {
  const { claim, result } = row
  const { bound, must, aim, unit } = claim
  if (typeof result === 'string' || must === null) return ''
  const end = x(share(bound, must, result.value))
  const value = unit ? figure({ value: result.value, unit }) : result.value.toFixed(2)
  const goals = `${bound} ${must}${aim === null ? '' : `, aim ${aim}`}${unit ? ` ${unit}` : ''}`
  const middle = y + LINE / 2
  const diamond =
    aim === null
      ? ''
      : `<path class="goal" d="M${px(x(share(bound, must, aim)))} ${middle - 6}l6 6-6 6-6-6z"/>`
  return `<text x="12" y="${middle + 4}">${claim.name}</text>
<rect class="${CLASS[verdictOf(row)]}" x="${LEFT}" y="${y + 6}" width="${px(Math.max(1, end - LEFT))}" height="${LINE - 12}" rx="2"/>
${diamond}
<text x="${WIDTH - RIGHT + 16}" y="${middle + 4}">${value}<tspan class="small" dx="8">must ${goals}</tspan></text>`
}

const px = (value: number): string => value.toFixed(1)
