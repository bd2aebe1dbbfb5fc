import { describe, expect, it } from 'vitest'
import {
  type CountedCap,
  capAt,
  capFigures,
  capLeft,
  capName,
  capsOfSubscriber,
  checkCap,
  checkedEntities,
  countInCaps,
  tightestCap,
  windowEnd,
  windowStart,
} from './cap.ts'
import { RESET_PERIODS } from './period.ts'

const at = (iso: string) => Date.parse(iso)
const cap = (more: Partial<CountedCap> = {}): CountedCap => ({
  ...{ entity: null, limit: 10, period: 'DAY', windowStart: 0, used: 0, ...more },
})

describe('gap: windows of caps', () => {
  it.each([
    ['HOUR', '2026-03-31T22:59:59.999Z', '2026-03-31T22:00:00Z', '2026-03-31T23:00:00Z'],
    ['DAY', '2026-03-31T22:59:59.999Z', '2026-03-31T00:00:00Z', '2026-04-01T00:00:00Z'],
    ['WEEK', '2026-04-05T23:59:59.999Z', '2026-03-30T00:00:00Z', '2026-04-06T00:00:00Z'],
    ['WEEK', '2026-04-06T00:00:00Z', '2026-04-06T00:00:00Z', '2026-04-13T00:00:00Z'],
    ['MONTH', '2028-02-29T12:00:00Z', '2028-02-01T00:00:00Z', '2028-03-01T00:00:00Z'],
    ['MONTH', '2026-12-31T12:00:00Z', '2026-12-01T00:00:00Z', '2027-01-01T00:00:00Z'],
    ['YEAR', '2026-12-31T23:59:59.999Z', '2026-01-01T00:00:00Z', '2027-01-01T00:00:00Z'],
  ] as const)('%s at %s', (period, now, start, end) => {
    expect(windowStart(period, at(now))).toBe(at(start))
    expect(windowEnd(period, at(now))).toBe(at(end))
  })

  it('NEVER is one window without end', () => {
    expect([windowStart('NEVER', at('2026-01-01')), windowEnd('NEVER', at('2026-01-01'))]).toEqual([0, null])
  })

  it('follow one another without gaps', () => {
    for (const period of RESET_PERIODS) {
      for (let now = at('1999-12-25T13:00:00Z'); now < at('2040-01-01'); now += 41 * 86_400_123) {
        const [start, end] = [windowStart(period, now), windowEnd(period, now)]
        expect(start).toBeLessThanOrEqual(now)
        if (end === null) continue
        expect(end).toBeGreaterThan(now)
        expect([windowStart(period, end - 1), windowStart(period, end)]).toEqual([start, end])
      }
    }
  })
})

describe('gap: the caps of a subscriber', () => {
  it('are their own, then those of the plans that they do not replace, with the counts', () => {
    const plan = [
      { period: 'DAY' as const, limit: 100, perEntity: null },
      { period: 'MONTH' as const, limit: 900, perEntity: null },
      { period: 'HOUR' as const, limit: 5, perEntity: 'agent' },
    ]
    const counts = [
      { ...cap({ used: 3 }), limit: 20 },
      { ...cap({ period: 'MONTH', used: 7 }), limit: null },
      { ...cap({ period: 'HOUR', entity: 'agent:1', used: 2 }), limit: 9 },
      { ...cap({ period: 'WEEK', used: 5 }), limit: null },
    ]
    const listed = capsOfSubscriber(counts, plan).map(
      ({ entity, perEntity, period, limit, own, planLimit, used }) => ({
        ...{ of: entity ?? perEntity, period, limit, own, planLimit, used },
      }),
    )
    expect(listed).toEqual([
      { of: null, period: 'DAY', limit: 20, own: true, planLimit: 100, used: 3 },
      { of: 'agent:1', period: 'HOUR', limit: 9, own: true, planLimit: 5, used: 2 },
      { of: null, period: 'MONTH', limit: 900, own: false, planLimit: null, used: 7 },
      { of: 'agent', period: 'HOUR', limit: 5, own: false, planLimit: null, used: 0 },
    ])
  })
})

describe('gap: caps', () => {
  const now = at('2026-03-31T12:00:00Z')
  const today = windowStart('DAY', now)

  it('count the current window alone', () => {
    expect(capAt(cap({ windowStart: today, used: 4 }), 3, now)).toMatchObject({ used: 4, reserved: 3 })
    expect(capAt(cap({ windowStart: today - 86_400_000, used: 4 }), 3, now)).toMatchObject({
      used: 0,
      reserved: 3,
    })
  })

  it('of the caps that apply, the one with the fewest units left decides', () => {
    const caps = [cap(), cap({ entity: 'team:1', limit: 5 }), cap({ entity: 'team:2', limit: 1 })].map(
      (one) => capAt(one, 0, now),
    )
    expect(tightestCap(caps, [])).toBe(caps[0])
    expect(tightestCap(caps, ['team:1', 'agent:1'])).toBe(caps[1])
    expect(tightestCap(caps.slice(1), [])).toBeNull()
    expect(countInCaps(caps, ['team:1'], 4).map(capLeft)).toEqual([6, 1, 1])
    expect(countInCaps(caps, ['team:1'], -4).map(({ used }) => used)).toEqual([0, 0, 0])
  })

  it('are named in answers', () => {
    const held = capAt(cap({ windowStart: today, used: 4, entity: 'agent:42' }), 3, now)
    expect([capName(held), capName(cap())]).toEqual(['CAP DAY agent:42', 'CAP DAY'])
    expect(capFigures(held)).toBe('4 of 10 used today by "agent:42", 3 reserved')
  })

  it('refuse bad input with its field', () => {
    for (const entity of ['team', 'team:', ':7', '', 'a\n:1', `team:${'x'.repeat(251)}`])
      expect(() => checkCap(cap({ entity }))).toThrow(expect.objectContaining({ field: 'entity' }))
    for (const limit of [-1, 0.5, 2 ** 53])
      expect(() => checkCap(cap({ limit }))).toThrow(expect.objectContaining({ field: 'limit' }))
    expect(checkedEntities(['team:7', 'a:b:c', 'team:7'])).toEqual(['team:7', 'a:b:c'])
    expect(() => checkedEntities(['team:7', 'agent'])).toThrow(expect.objectContaining({ field: 'entities' }))
  })
})
