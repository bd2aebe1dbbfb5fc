import { expect, it } from 'vitest'
import { StartError } from '../domain/errors.ts'
import { timeAfter, timeBefore } from './times.ts'

const NOW = Date.parse('2026-03-15T12:00:00Z')

it.each([
  ['2026-01-31T10:00:00Z', '2026-01-31T10:00:00.000Z', '2026-01-31T10:00:00.000Z'],
  ['2026-01-31T10:00:00+02:00', '2026-01-31T08:00:00.000Z', '2026-01-31T08:00:00.000Z'],
  ['2026-01-31', '2026-01-31T00:00:00.000Z', '2026-01-31T00:00:00.000Z'],
  ['90s', '2026-03-15T11:58:30.000Z', '2026-03-15T12:01:30.000Z'],
  ['5m', '2026-03-15T11:55:00.000Z', '2026-03-15T12:05:00.000Z'],
  ['12h', '2026-03-15T00:00:00.000Z', '2026-03-16T00:00:00.000Z'],
  ['15d', '2026-02-28T12:00:00.000Z', '2026-03-30T12:00:00.000Z'],
  ['1w', '2026-03-08T12:00:00.000Z', '2026-03-22T12:00:00.000Z'],
])('%s is %s or, ahead, %s', (text, before, after) => {
  expect([timeBefore('--since', text, NOW), timeAfter('TO', text, NOW)]).toEqual([before, after])
})

it('a length of time ahead may have a plus', () => {
  expect(timeAfter('TO', '+1d', NOW)).toBe('2026-03-16T12:00:00.000Z')
})

it.each([
  '',
  'yesterday',
  '5',
  '5y',
  '-5d',
  '1.5h',
  '2026-02-30',
  '2026-13-01T00:00:00Z',
  '9999999999d',
])('%j is no time', (text) => {
  expect(() => timeBefore('--since', text, NOW)).toThrow(StartError)
  expect(() => timeAfter('TO', text, NOW)).toThrow(StartError)
})

it('a time that no calendar has is refused', () => {
  expect(() => timeAfter('TO', '999999999w', NOW)).toThrow('TO is too far away.')
})
