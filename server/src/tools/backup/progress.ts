import type { Monotonic } from '../../domain/clocks.ts'
import type { Watch } from './format.ts'

/** How often a slow table reports its progress. */
const EVERY_MS = 5_000
const MB = 1024 * 1024

const count = (value: number) => Math.round(value).toLocaleString('en-US')

/** One line for each table with rows, and one every few seconds during a slow one. */
export function progress(say: (line: string) => void, monotonic: Monotonic): Watch {
  let [table, began, said] = ['', monotonic(), monotonic()]
  return (sum, done) => {
    const now = monotonic()
    const { name } = sum
    if (name !== table) [table, began, said] = [name, now, now]
    if (sum.rows === 0 || (!done && now - said < EVERY_MS)) return
    said = now
    const seconds = Math.max((now - began) / 1000, 0.001)
    const size = `${(sum.bytes / MB).toFixed(1)} MB`
    const speed = done && seconds < 1 ? '' : `  ${count(sum.rows / seconds)} rows/s`
    say(
      `  ${name.padEnd(22)} ${count(sum.rows).padStart(12)} ${sum.rows === 1 ? 'row ' : 'rows'}  ${size.padStart(10)}${speed}${done ? '' : ' …'}`,
    )
  }
}
