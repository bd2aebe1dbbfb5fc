import type { LoadGenerator, LoadResult } from './load.ts'
import type { Scale } from './options.ts'
import type { Pgbench } from './pgbench.ts'
import { say } from './progress.ts'
import type { Comparison } from './rounds.ts'
import type { Database } from './seed.ts'
import type { Subject } from './subject.ts'

/** What a pair can use. */
export interface Bench {
  scale: Scale
  load: LoadGenerator
  /** null: not installed */
  pgbench: Pgbench | null
  /** Seeded on first use. */
  database(users: number): Promise<Database>
  /** The server shared by pairs that need nothing special. */
  subject(): Promise<Subject>
  /** A server for one pair, which stops it. */
  start(database: Database, env?: Record<string, string>): Promise<Subject>
}

export type Unit = '/s' | 'ms' | 'MB'

export interface Figure {
  value: number
  unit: Unit
}

/** One line of the table: what is compared, and what it must reach. */
export interface Claim {
  name: string
  /** A ÷ B in words, or what A is */
  what: string
  /** whether more is better, or less */
  bound: '≥' | '≤'
  /** null: measured only for comparison */
  must: number | null
  /** null: no aim beyond `must` */
  aim: number | null
  /** of `must`; absent: a ratio */
  unit?: Unit
}

export interface Measurement {
  a: Figure
  b: Figure | null
  /** what `must` is about: a ratio, or A itself */
  value: number
  /** lowest and highest of the rounds */
  range?: [low: number, high: number]
  /** latency of A in milliseconds */
  p50?: number
  p99?: number
  note?: string
}

export interface Pair {
  name: string
  claims: readonly Claim[]
  /** The result of each claim, in order: what was measured, or why it was not. */
  run(bench: Bench): Promise<(Measurement | string)[]>
}

export const perSecond = (value: number): Figure => ({ value, unit: '/s' })
export const milliseconds = (value: number): Figure => ({ value, unit: 'ms' })
export const megabytes = (value: number): Figure => ({ value, unit: 'MB' })

export function ratioOf({ a, b, ratio, range }: Comparison, unit: Unit): Measurement {
  return { a: { value: a, unit }, b: { value: b, unit }, value: ratio, range }
}

const whole = new Intl.NumberFormat('en', { maximumFractionDigits: 0 })

export function figure({ value, unit }: Figure): string {
  if (unit === 'ms') return `${value < 10 ? value.toFixed(2) : value.toFixed(1)} ms`
  return unit === 'MB' ? `${whole.format(value)} MB` : `${whole.format(value)}/s`
}

export function tellRound(round: number, side: string, result: LoadResult): void {
  const rate = figure(perSecond(result.perSecond)).padStart(10)
  say(
    `  ${round}  ${side.padEnd(24)} ${rate}   p50 ${result.p50.toFixed(2)} ms   p99 ${result.p99.toFixed(2)} ms`,
  )
}

export function tellRate(round: number, side: string, rate: number): void {
  say(`  ${round}  ${side.padEnd(24)} ${figure(perSecond(rate)).padStart(10)}`)
}
