import { describe, expect, it } from 'vitest'
import { publishSummary, type Reach } from '../src/pages/publish-summary.ts'
import { differences as compared } from '../src/ui/differences.ts'

const names: Record<string, string> = { calls: 'API calls', pro: 'Pro' }
const words = {
  nameOf: (id: string) => names[id] ?? id,
  timeOf: (iso: string) => new Date(iso).toUTCString(),
}
type Values = Parameters<typeof compared>[0]
const differences = (before: Values, after: Values) => compared(before, after, words)

describe('what changed, in words', () => {
  it('leaves out what is the same', () => {
    expect(differences({ name: 'A', unitLabel: 'call' }, { name: 'B', unitLabel: 'call' })).toEqual([
      { field: 'Name', before: 'A', after: 'B' },
    ])
    expect(differences({ a: 1 }, { a: 1 })).toEqual([])
  })

  it('matches the entries of a list by what they are about, whatever their order', () => {
    const before = {
      features: [
        { featureId: 'calls', limit: 1000, resetPeriod: 'MONTH', overageEnabled: false },
        { featureId: 'sso', limit: null, resetPeriod: 'MONTH', overageEnabled: false },
      ],
    }
    const after = {
      features: [
        { featureId: 'seats', limit: 5, resetPeriod: 'NEVER', overageEnabled: false },
        { featureId: 'calls', limit: 20000, resetPeriod: 'DAY', overageEnabled: true },
      ],
    }
    expect(differences(before, after)).toEqual([
      { field: 'Features › API calls › Limit', before: '1,000', after: '20,000' },
      { field: 'Features › API calls › Reset period', before: 'every month', after: 'every day' },
      { field: 'Features › API calls › Overage', before: 'no', after: 'yes' },
      { field: 'Features › sso', before: 'Reset period: every month, Overage: no', after: '–' },
      { field: 'Features › seats', before: '–', after: 'Limit: 5, Reset period: never, Overage: no' },
    ])
  })

  it('shows all that a new thing has, and a draft by its fields', () => {
    expect(differences(null, { id: 'pro', name: 'Pro', draft: null, isAddon: false })).toEqual([
      { field: 'Id', before: '–', after: 'pro' },
      { field: 'Name', before: '–', after: 'Pro' },
      { field: 'Add-on', before: '–', after: 'no' },
    ])
    expect(differences({ draft: null }, { draft: { name: 'Better' } })).toEqual([
      { field: 'Draft › Name', before: '–', after: 'Better' },
    ])
  })

  it('calls things by their names, and leaves metadata alone', () => {
    expect(
      differences(
        { packageId: 'pro', packageIds: ['pro'], metadata: { teamSize: 1 } },
        { packageId: 'x', packageIds: ['pro', 'x'], metadata: { teamSize: 2 } },
      ),
    ).toEqual([
      { field: 'Package', before: 'Pro', after: 'x' },
      { field: 'Packages', before: 'Pro', after: 'Pro, x' },
      { field: 'Metadata › teamSize', before: '1', after: '2' },
    ])
  })

  it('says caps of an entitlement in words', () => {
    const calls = { featureId: 'calls', limit: 1000 }
    const caps = [
      { period: 'DAY', limit: 1000, perEntity: null },
      { period: 'NEVER', limit: 50, perEntity: 'agent' },
    ]
    const text = 'at most 1,000 a day, at most 50 in total for each agent'
    expect(differences({ features: [calls] }, { features: [{ ...calls, caps }] })).toEqual([
      { field: 'Features › API calls › Caps', before: '–', after: text },
    ])
    expect(differences({ features: [] }, { features: [{ ...calls, caps, overageCap: 5 }] })).toEqual([
      { field: 'Features › API calls', before: '–', after: `Limit: 1,000, Caps: ${text}, Overage cap: 5` },
    ])
  })

  it('cuts what is long, and shows times as times', () => {
    const [long] = differences({ note: null }, { note: 'x'.repeat(10_000) })
    expect(long?.after).toBe(`${'x'.repeat(240)}…`)
    const [time] = differences({ cancelAt: null }, { cancelAt: '2026-03-01T12:00:00+00:00' })
    expect(time?.after).toBe('Sun, 01 Mar 2026 12:00:00 GMT')
  })

  it('takes whatever was written down', () => {
    expect(differences({ a: [{ b: 1 }], c: 'x' }, { a: [1, { b: 2 }], c: { d: 1 } })).toEqual([
      { field: 'A', before: '[{"b":1}]', after: '[1,{"b":2}]' },
      { field: 'C', before: 'x', after: '{"d":1}' },
    ])
    expect(differences(null, null)).toEqual([])
  })
})

describe('what publishing does to current subscribers', () => {
  const rest = { resetPeriod: 'MONTH', overageEnabled: false, overageCap: null, caps: [] } as const
  const grant = (limit: string) => [{ id: 'calls', limit, ...rest }]
  const none = { subscribers: 2, gain: 0, lose: 0, moreOverage: 0, lessOverage: 0 }
  it.each<[impact: Partial<typeof none>, reach: Reach, after: string, text: string]>([
    [{}, 'ALL', '20', '2 subscribers: limits change, but nobody gains or loses access'],
    [{}, 'ALL', '10', '2 subscribers: nobody gains or loses access'],
    [
      {},
      'AT_PERIOD_END',
      '20',
      '2 subscribers: limits change, but nobody gains or loses access when their period ends',
    ],
    [{ lose: 1, lessOverage: 1 }, 'ALL', '5', '2 subscribers: 1 loses access, 1 less overage'],
    [{ gain: 1 }, 'AT_PERIOD_END', '20', '2 subscribers: 1 gains access when their period ends'],
    [{}, 'NEW_ONLY', '20', '2 subscribers keep the current version'],
    [{ subscribers: 1 }, 'NEW_ONLY', '20', '1 subscriber keeps the current version'],
    [{ subscribers: 0 }, 'ALL', '20', 'No subscribers yet'],
  ])('%o for %s, from a limit of 10 to %s: %s', (impact, reach, after, text) => {
    expect(publishSummary({ ...none, ...impact }, reach, grant('10'), grant(after))).toBe(text)
  })
})
