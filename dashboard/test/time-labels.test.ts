import { describe, expect, it } from 'vitest'
import { timeLabels } from '../src/ui/period-labels.ts'

const at = (day: number, hour = 0, minute = 0) => new Date(2026, 10, day, hour, minute).getTime() / 1000

/** In the language of the machine. */
const written = (options: Intl.DateTimeFormatOptions) => (seconds: number) =>
  new Intl.DateTimeFormat(undefined, options).format(seconds * 1000)
const day = written({ month: 'short', day: 'numeric' })
const hour = written({ hour: 'numeric' })
const minute = written({ hour: 'numeric', minute: '2-digit' })

describe('gap: the labels of an axis of times', () => {
  it.each([
    ['days', [at(19), at(21), at(23)], [day, day, day]],
    ['hours, with the day at its start', [at(19, 22), at(20), at(20, 2)], [hour, day, hour]],
    ['minutes', [at(19, 22), at(19, 22, 30)], [minute, minute]],
    ['a single day', [at(19)], [day]],
    ['no time', [], []],
  ])('%s', (_, ticks, writers) => {
    expect(timeLabels(ticks)).toEqual(ticks.map((tick, index) => writers[index]?.(tick)))
  })
})
