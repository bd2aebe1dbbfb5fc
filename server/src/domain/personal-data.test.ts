import { describe, expect, it } from 'vitest'
import type { Json } from './metadata.ts'
import { answerIsAbout, entryIsAbout, knownAs, type Person, quotesOf } from './personal-data.ts'

const HOUR = 3_600_000
const MINUTE = 60_000
const ann: Person = {
  uid: 1,
  knownAs: knownAs({ id: 'ann', createdAt: 10 * HOUR }, [{ id: 'anna', until: 20 * HOUR }]),
  billingIds: ['cus_1'],
  subscriptionIds: new Set(['s1']),
}
const anna = { id: 'anna', billingId: null }
const bob = { id: 'bob', billingId: null }
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
    [
      'by an id from a minute before it was theirs',
      entry({ at: 10 * HOUR - MINUTE, subjectId: 'anna' }),
      'user',
      true,
    ],
    [
      'not by an id from more than a minute before it was theirs',
      entry({ at: 10 * HOUR - MINUTE - 1, subjectId: 'anna' }),
      'user',
      false,
    ],
    ['by an id until it was given up', entry({ at: 20 * HOUR, subjectId: 'anna' }), 'user', true],
    ['not by an id after it was given up', entry({ at: 20 * HOUR + 1, subjectId: 'anna' }), 'user', false],
    ['by the id of today, however late', entry({ at: 99 * HOUR, subjectId: 'ann' }), 'user', true],
    ['by a subscription', entry({ subjectId: 's1' }), 'subscription', true],
    ['not by another user’s subscription', entry({ subjectId: 's2' }), 'subscription', false],
    ['not by what has the id of a subscription and is none', entry({ subjectId: 's1' }), 'other', false],
    ['not by what has the id of a user and is none', entry({ subjectId: 'anna' }), 'other', false],
    ['not by nothing', entry({}), 'user', false],
    ['by a user in it', entry({ after: anna }), 'other', true],
    ['by the user of something in it', entry({ before: { rows: [{ userId: 'anna' }] } }), 'other', true],
    ['by one of several users in it', entry({ after: { rows: [bob, anna] } }), 'other', true],
    ['by one of several fields in it', entry({ after: { plan: 'pro', user: anna } }), 'other', true],
    ['not by another user in it', entry({ after: bob }), 'other', false],
    ['not by what belongs to another user', entry({ after: { rows: [{ userId: 'bob' }] } }), 'other', false],
    ['not by an empty list in it', entry({ after: { rows: [] } }), 'other', false],
    ['not by metadata that look like it', entry({ after: { metadata: { userId: 'anna' } } }), 'other', false],
    ['not by what has the id and is no user', entry({ after: { id: 'anna' } }), 'other', false],
  ] as const)('%s', (_, record, subject, is) => {
    expect(entryIsAbout(ann, record, subject)).toBe(is)
  })
})

describe('gap: erasure: which stored answers are about a user', () => {
  it.each<[string, Json, boolean]>([
    ['by a user in it', { createUser: anna }, true],
    ['by one of several answers', [{ createUser: bob }, { createUser: anna }], true],
    ['by a refusal that quotes an id', { message: 'User not found: "anna"' }, true],
    ['by a refusal that quotes an id of another time', { message: 'User not found: "ann"' }, true],
    ['by a refusal that quotes a billing id', { message: '"cus_1" is taken by another user' }, true],
    ['not by a refusal that quotes another id', { message: 'User not found: "bob"' }, false],
    ['not by a refusal that only contains the letters of an id', { message: 'Use anna-2' }, false],
    ['not by a message that is no text', { message: null }, false],
    ['by a token for the user', { again: { value: { uid: ann.uid, issued: 1, key: null } } }, true],
    [
      'by a token beside something else',
      { other: { value: 1 }, again: { value: { uid: ann.uid, issued: 1 } } },
      true,
    ],
    ['not by a token for another', { again: { value: { uid: ann.uid * 10, issued: 1, key: null } } }, false],
    ['not by another user', { createUser: bob }, false],
    ['not by plain values', ['anna', 1, true, null], false],
  ])('%s', (_, results, is) => {
    expect(answerIsAbout(ann, results, 15 * HOUR)).toBe(is)
  })

  it('quotes every id that the user has or had, also those at billing providers', () => {
    expect(quotesOf(ann)).toEqual(['"anna"', '"ann"', '"cus_1"'])
  })
})
