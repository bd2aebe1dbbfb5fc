import { expect, it } from 'vitest'
import { MAX_USAGE_POINTS } from './limits.ts'
import { usageBuckets } from './usage-series.ts'

// Invariants: buckets are whole, in UTC, adjacent, and cover the range.

const iso = (at: number) => new Date(at).toISOString()

it.each([
  [
    'HOUR',
    '2027-01-01T10:30:00Z',
    '2027-01-01T12:00:00Z',
    ['2027-01-01T10', '2027-01-01T11'],
    '2027-01-01T12',
  ],
  [
    'DAY',
    '2027-02-28T23:59:59.999Z',
    '2027-03-01T00:00:00.001Z',
    ['2027-02-28T00', '2027-03-01T00'],
    '2027-03-02T00',
  ],
  [
    'MONTH',
    '2027-01-31T00:00:00Z',
    '2027-03-01T00:00:00Z',
    ['2027-01-01T00', '2027-02-01T00'],
    '2027-03-01T00',
  ],
  [
    'MONTH',
    '2027-12-05T00:00:00+02:00',
    '2028-01-01T00:00:01Z',
    ['2027-12-01T00', '2028-01-01T00'],
    '2028-02-01T00',
  ],
] as const)('gap: usage series: buckets of one %s from %s to %s', (bucket, from, to, starts, end) => {
  const buckets = usageBuckets(from, to, bucket)
  expect(buckets.starts.map(iso)).toEqual(starts.map((hour) => `${hour}:00:00.000Z`))
  expect(iso(buckets.end)).toBe(`${end}:00:00.000Z`)
})

it('gap: usage series: a range has a start before its end, and a bounded number of buckets', () => {
  const ask = (from: string, to: string) => () => usageBuckets(from, to, 'HOUR')
  expect(ask('2027-01-02T00:00:00Z', '2027-01-02T00:00:00Z')).toThrow('from must be before to')
  expect(ask('yesterday', '2027-01-02T00:00:00Z')).toThrow('from must be an ISO 8601 time')
  expect(ask('2027-01-02T00:00:00Z', '2027-02-30T00:00:00Z')).toThrow('to must be an ISO 8601 time')
  expect(ask('0001-01-01T00:00:00Z', '9999-01-01T00:00:00Z')).toThrow(`more than ${MAX_USAGE_POINTS} buckets`)
})
