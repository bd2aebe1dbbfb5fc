import { afterEach, describe, expect, it, vi } from 'vitest'
import { timeOf } from './time.ts'

afterEach(() => vi.restoreAllMocks())

/** `Date.parse` takes a time without a zone for one of the machine's. */
function onAMachineInIndia(): void {
  const { parse } = Date
  const hasZone = (text: string) => /(Z|[+-]\d\d:?\d\d)$/i.test(text)
  vi.spyOn(Date, 'parse').mockImplementation((text) => parse(hasZone(text) ? text : `${text}+05:30`))
}

describe('gap: a time in ISO 8601', () => {
  it.each([
    ['2027-01-31T00:00:00Z', '2027-01-31T00:00:00.000Z'],
    ['2027-01-31T00:00:00', '2027-01-31T00:00:00.000Z'],
    ['2028-02-29T23:59:59.999z', '2028-02-29T23:59:59.999Z'],
    ['2027-01-31T01:30:00+01:30', '2027-01-31T00:00:00.000Z'],
    ['2027-01-31T00:00', '2027-01-31T00:00:00.000Z'],
  ])('%s is %s', (text, time) => {
    expect(new Date(timeOf('to', text)).toISOString()).toBe(time)
  })

  it('is UTC where it names no zone, wherever this runs', () => {
    onAMachineInIndia()
    expect(timeOf('to', '2027-01-31T00:00:00')).toBe(Date.UTC(2027, 0, 31))
    expect(timeOf('to', '2027-01-31T00:00:00-01:00')).toBe(Date.UTC(2027, 0, 31, 1))
  })

  it.each([
    '',
    'tomorrow',
    '2027-01-31',
    '2027-02-29T00:00:00Z',
    '2027-13-01T00:00:00Z',
    '2027-01-31T25:00:00Z',
    '31/01/2027',
    '1800000000000',
  ])('%j is none', (text) => {
    expect(() => timeOf('to', text)).toThrow('to must be an ISO 8601 time')
  })
})
