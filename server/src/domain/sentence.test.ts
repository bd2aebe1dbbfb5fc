import { describe, expect, it } from 'vitest'
import { joined, named, say, textOf, time, units } from './sentence.ts'

// Whatever a sentence is put together from, its text is the texts in order; only names and times stand apart.

describe('a sentence', () => {
  const ada = named('Ada', { kind: 'USER', appId: 'shop', id: 'u1' })
  const pro = named('Pro', { kind: 'PACKAGE', appId: 'shop', id: 'pro' })

  it('keeps names apart and joins the text between them', () => {
    const sentence = say`${ada} ${'subscribed'} to ${pro}, ${2000} times`
    expect(textOf(sentence)).toBe('Ada subscribed to Pro, 2,000 times')
    expect(sentence).toEqual([
      ada,
      { text: ' subscribed to ', subject: null, at: null },
      pro,
      { text: ', 2,000 times', subject: null, at: null },
    ])
  })

  it('contains sentences, and leaves nothing of an empty one', () => {
    expect(say`${say`Live: ${joined([pro, ada], ', ')}`}${''}.`).toEqual(say`Live: ${pro}, ${ada}.`)
    expect(say`${''}`).toEqual([])
  })

  it('leaves a name that leads nowhere as text', () => {
    expect(say`by ${named('u9', null)}.`).toEqual([{ text: 'by u9.', subject: null, at: null }])
  })

  it('tells a time to the minute, and which it is', () => {
    const at = Date.parse('2091-04-10T00:00:00Z')
    expect(say`until ${time(at)}`.at(-1)).toEqual({ text: '2091-04-10 00:00 UTC', subject: null, at })
  })
})

describe('units', () => {
  const labels = { unitLabel: 'call', unitLabelPlural: 'calls' }
  it.each([
    [1, labels, '1 call'],
    [0, labels, '0 calls'],
    [12_000, labels, '12,000 calls'],
    [5, { unitLabel: 'report', unitLabelPlural: null }, '5 × report'],
    [5, { unitLabel: 'report', unitLabelPlural: '' }, '5 × report'],
    [1, { unitLabel: 'report', unitLabelPlural: null }, '1 report'],
    [1, { unitLabel: '', unitLabelPlural: 'reports' }, '1 × reports'],
    [2, { unitLabel: '', unitLabelPlural: '' }, '2'],
    [1500, { unitLabel: null, unitLabelPlural: null }, '1,500'],
    [3, undefined, '3'],
  ])('%s of %o', (value, given, text) => {
    expect(units(value, given)).toBe(text)
  })
})
