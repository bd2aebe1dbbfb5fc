import { describe, expect, it } from 'vitest'
import { entryIsAbout, knownAs, type Person } from './personal-data.ts'

const HOUR = 3_600_000
const ann: Person = {
  uid: 1,
  knownAs: knownAs({ id: 'ann', createdAt: 10 * HOUR }, [{ id: 'anna', until: 20 * HOUR }]),
  billingIds: ['cus_1'],
  subscriptionIds: new Set(['s1']),
}
const entry = (more: Partial<Parameters<typeof entryIsAbout>[1]>) => ({
  at: 15 * HOUR,
  subjectId: null,
  before: null,
  after: null,
  ...more,
})

describe('gap: erasure: which entries of the audit log are about a user', () => {
  it.each([
    ['by the id of that time', entry({ subjectId: 'anna' }), 'user', true],
    ['not by an id of another time', entry({ subjectId: 'ann' }), 'user', false],
    ['not by an id that was somebody else’s before', entry({ at: HOUR, subjectId: 'anna' }), 'user', false],
    ['by a subscription', entry({ subjectId: 's1' }), 'subscription', true],
    ['not by what has the id of a subscription and is none', entry({ subjectId: 's1' }), 'other', false],
    ['not by what has the id of a user and is none', entry({ subjectId: 'anna' }), 'other', false],
    ['not by nothing', entry({}), 'user', false],
    ['by a user in it', entry({ after: { id: 'anna', billingId: null } }), 'other', true],
    ['by the user of something in it', entry({ before: { rows: [{ userId: 'anna' }] } }), 'other', true],
    ['not by metadata that look like it', entry({ after: { metadata: { userId: 'anna' } } }), 'other', false],
    ['not by what has the id and is no user', entry({ after: { id: 'anna' } }), 'other', false],
  ] as const)('%s', (_, record, subject, is) => {
    expect(entryIsAbout(ann, record, subject)).toBe(is)
  })
})
