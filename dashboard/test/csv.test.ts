import { describe, expect, it } from 'vitest'

// A variable, so that the type check of the tests leaves the pages, which are written for a browser, to their own.
const CSV: string = '../src/ui/csv.ts'
const { csvOf } = (await import(CSV)) as { csvOf: (rows: (string | number)[][]) => string }

const USAGE: string = '../src/pages/usage-csv.ts'
interface UsageCsv {
  seriesCsv(featureId: string, userId: string, points: object[]): string
}
const { seriesCsv } = (await import(USAGE)) as UsageCsv

describe('gap: exports', () => {
  it('quotes what would end a cell, and ends every line', () => {
    expect(
      csvOf([
        ['day', 'a,b'],
        ['say "x"', 12],
      ]),
    ).toBe('day,"a,b"\r\n"say ""x""",12\r\n')
  })

  it.each([
    '=1+1',
    '+1',
    '-1',
    '@SUM(A1)',
    '\t=1',
  ])('marks %j as text, since a spreadsheet would compute it', (text) => {
    expect(csvOf([[text]])).toBe(`'${text}\r\n`)
  })

  it('leaves numbers as they are', () => {
    expect(csvOf([[-5, 0.25]])).toBe('-5,0.25\r\n')
  })
})

describe('gap: dashboard: usage as CSV', () => {
  it('marks identifiers that a spreadsheet would take for formulas, and keeps numbers as they are', () => {
    const at = '2027-01-31T00:00:00.000Z'
    expect(seriesCsv('=cmd()', '+ada', [{ at, used: -3 }])).toBe(
      `start,feature,user,used\r\n${at},'=cmd(),'+ada,-3\r\n`,
    )
  })
})
