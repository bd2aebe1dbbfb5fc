import type { Monotonic } from '../../domain/clocks.ts'
import type { ProgressBar } from '../../terminal/progress-bar.ts'
import type { Summary, Watch } from './format.ts'

const MB = 1024 * 1024

const count = (value: number) => Math.round(value).toLocaleString('en-US')

interface Shown {
  say: (line: string) => void
  bar: ProgressBar
  monotonic: Monotonic
}

/**
 * One line for each table with rows, and a bar during a slow one. `expected` has the rows of each table, if they are
 * known.
 */
export function progress({ say, bar, monotonic }: Shown, expected?: Summary): Watch {
  let [table, began] = ['', monotonic()]
  const totals = new Map(expected?.tables.map(({ name, rows }) => [name, rows]))
  return (sum, done) => {
    const now = monotonic()
    const { name } = sum
    if (name !== table) [table, began] = [name, now]
    if (sum.rows === 0) return
    const seconds = Math.max((now - began) / 1000, 0.001)
    const size = `${(sum.bytes / MB).toFixed(1)} MB`
    const speed = done && seconds < 1 ? '' : `  ${count(sum.rows / seconds)} rows/s`
    const text = `${name.padEnd(22)} ${count(sum.rows).padStart(12)} ${sum.rows === 1 ? 'row ' : 'rows'}  ${size.padStart(10)}${speed}`
    if (!done) return bar.show({ done: sum.rows, total: totals.get(name) ?? null, text })
    bar.clear()
    say(`  ${text}`)
  }
}
