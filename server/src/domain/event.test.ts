import { describe, expect, it } from 'vitest'
import {
  changedFields,
  cursorOf,
  dayOf,
  dayOfSequence,
  eventData,
  firstSequenceOf,
  MAX_EVENT_DATA_BYTES,
  nextSequence,
  sequenceOf,
} from './event.ts'

const bytes = (value: unknown) => Buffer.byteLength(JSON.stringify(value))

describe('eventData', () => {
  it('has the state, what changed, and the version of the format', () => {
    expect(eventData({ id: 'a' }, { name: 'b' })).toEqual({
      version: 1,
      object: { id: 'a' },
      previous: { name: 'b' },
    })
  })

  it('leaves out the largest fields, those of the past first, once it is too large', () => {
    const metadata = { text: 'é'.repeat(5_000) }
    const one = eventData({ id: 'a', metadata }, { metadata })
    expect(one).toEqual({
      version: 1,
      object: { id: 'a', metadata },
      previous: { metadata: null },
      truncated: true,
    })
    expect(bytes(one)).toBeLessThanOrEqual(MAX_EVENT_DATA_BYTES)
    const two = eventData({ id: 'a', metadata, other: metadata }, null)
    expect(two.truncated).toBe(true)
    expect(two.object.id).toBe('a')
    expect(bytes(two)).toBeLessThanOrEqual(MAX_EVENT_DATA_BYTES)
  })
})

describe('changedFields', () => {
  it('are the earlier values of fields that differ', () => {
    expect(changedFields({ a: 1, b: [1], c: null }, { a: 2, b: [1], c: null, d: 4 })).toEqual({ a: 1 })
    expect(changedFields({ a: { b: 1 } }, { a: { b: 1 } })).toBeNull()
  })
})

describe('sequences', () => {
  const today = dayOf(Date.UTC(2026, 10, 18))

  it('begin anew each day, and never go back', () => {
    const first = nextSequence(0, today)
    expect(first).toBe(firstSequenceOf(today))
    expect(nextSequence(first, today)).toBe(first + 1)
    expect(nextSequence(first, today - 1)).toBe(first + 1)
    expect(nextSequence(first, today + 1)).toBe(firstSequenceOf(today + 1))
    expect(dayOfSequence(first)).toBe(today)
    expect(dayOfSequence(firstSequenceOf(today + 1) - 1)).toBe(today)
  })

  it('are exact until the year 2300', () => {
    expect(Number.isSafeInteger(firstSequenceOf(dayOf(Date.UTC(2300, 0))))).toBe(true)
  })

  it('are what a cursor says', () => {
    for (const sequence of [0, 1, firstSequenceOf(today) + 12_345])
      expect(sequenceOf(cursorOf(sequence))).toBe(sequence)
    for (const text of ['', 'e', '12', 'E1', 'e1-', 'ezzzzzzzzzzzz']) expect(sequenceOf(text)).toBeNull()
  })
})
