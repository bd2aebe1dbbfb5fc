import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { ascending, compareBytes, descending, firstRows, firstScanned, type Scan } from './merge-answers.ts'

interface Row {
  seq: number
  wanted: boolean
  cell: number
}

/** What a place answers about its own rows. */
function scan(rows: readonly Row[], after: number | null, limit: number, most: number, order: Order) {
  const left = rows.filter(({ seq }) => after === null || order(after, seq) < 0)
  const looked = left.slice(0, most)
  const found = looked.filter(({ wanted }) => wanted).slice(0, limit)
  const end = left.length > most ? (looked.at(-1)?.seq ?? null) : null
  return { rows: found, scannedTo: found.length === limit ? null : end } satisfies Scan<Row>
}

type Order = (a: number, b: number) => number

describe('pages of several places', () => {
  it('lead through everything that is wanted, in order and once, however the rows are spread', () => {
    const rows = fc.uniqueArray(
      fc.record({ seq: fc.integer({ min: 1, max: 70 }), wanted: fc.boolean(), cell: fc.nat(3) }),
      { selector: ({ seq }) => seq, maxLength: 60 },
    )
    const pages = fc.record({
      rows,
      cells: fc.integer({ min: 2, max: 4 }),
      limit: fc.integer({ min: 1, max: 8 }),
      most: fc.integer({ min: 1, max: 12 }),
      order: fc.constantFrom(ascending, descending),
    })
    fc.assert(
      fc.property(pages, ({ rows: all, cells, limit, most, order }) => {
        const sorted = all.toSorted((a, b) => order(a.seq, b.seq))
        const listed: number[] = []
        let after: number | null = null
        for (let asked = 0; ; asked++) {
          expect(asked).toBeLessThanOrEqual(all.length + 1)
          const scans = Array.from({ length: cells }, (_, cell) =>
            scan(
              sorted.filter((row) => row.cell % cells === cell),
              after,
              limit,
              most,
              order,
            ),
          )
          const page: Scan<Row> = firstScanned<Row>(limit, ({ seq }) => seq, order).merge(scans)
          listed.push(...page.rows.map(({ seq }) => seq))
          const next: number | null =
            page.rows.length === limit ? (page.rows.at(-1)?.seq ?? null) : page.scannedTo
          if (next === null) break
          after = next
        }
        expect(listed).toEqual(sorted.filter(({ wanted }) => wanted).map(({ seq }) => seq))
      }),
    )
  })

  it('are left as they are where there is one', () => {
    const page = [{ uid: 4 }, { uid: 1 }, { uid: 1 }]
    expect(firstRows<{ uid: number }>(3, (a, b) => a.uid - b.uid).merge([page])).toEqual(page)
    const one = { rows: page, scannedTo: 9 }
    expect(firstScanned<{ uid: number }>(3, ({ uid }) => uid, ascending).merge([one])).toBe(one)
  })

  it('go on after their last row if they are full, and where the first place has stopped scanning if not', () => {
    const scans = [
      { rows: [{ uid: 1 }, { uid: 5 }], scannedTo: 5 },
      { rows: [{ uid: 2 }, { uid: 8 }], scannedTo: 9 },
    ]
    const joined = (limit: number) =>
      firstScanned<{ uid: number }>(limit, ({ uid }) => uid, ascending).merge(scans)
    expect(joined(3)).toEqual({ rows: [{ uid: 1 }, { uid: 2 }, { uid: 5 }], scannedTo: null })
    expect(joined(4)).toEqual({ rows: [{ uid: 1 }, { uid: 2 }, { uid: 5 }], scannedTo: 5 })
  })

  it('list a user once who was moved meanwhile', () => {
    const pages = [[{ uid: 1 }, { uid: 4 }], [{ uid: 1 }, { uid: 2 }], []]
    expect(firstRows<{ uid: number }>(9, (a, b) => a.uid - b.uid).merge(pages)).toEqual([
      { uid: 1 },
      { uid: 2 },
      { uid: 4 },
    ])
  })

  it('are ordered as PostgreSQL orders texts by their bytes, not as JavaScript does', () => {
    const [astral, last] = ['\u{1f600}', '\uffee']
    expect(astral < last).toBe(true)
    expect(compareBytes(astral, last)).toBeGreaterThan(0)
    expect(['b', 'a', 'Z', 'ab', ''].toSorted(compareBytes)).toEqual(['', 'Z', 'a', 'ab', 'b'])
  })
})
