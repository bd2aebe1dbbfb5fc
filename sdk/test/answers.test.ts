import { afterEach, describe, expect, it, vi } from 'vitest'
import { Answers } from '../src/browser/answers.ts'

afterEach(() => {
  vi.restoreAllMocks()
})

const answer = (key: string, data: unknown) => new Map([[key, { data, error: null }]])

describe('what a page knows', () => {
  it('is bounded: the least recently asked is dropped, what is watched stays', () => {
    const answers = new Answers([])
    answers.watch('watched')
    for (let i = 0; i < 1_000; i++) answers.asked(`key ${i}`)
    expect(answers.ofInterest()).toHaveLength(500)
    expect(answers.ofInterest()).toContain('watched')
    expect(answers.ofInterest()).toContain('key 999')
  })

  it('is not shown again when nobody has followed it for a while: it may be wrong by now', () => {
    const now = vi.spyOn(performance, 'now').mockReturnValue(0)
    const answers = new Answers([['initial', 'as rendered']])
    const release = answers.watch('key')
    answers.take(answer('key', 'old'), 1)
    now.mockReturnValue(100_000)
    expect(answers.known('key').data).toBe('old')
    release()
    expect(answers.known('key').data).toBeUndefined()
    answers.watch('key')
    expect(answers.known('key').data).toBeUndefined()
    expect(answers.known('initial').data).toBe('as rendered')
  })

  it('is not shown again either when a call asked for it, unless a listener kept it up to date', () => {
    const now = vi.spyOn(performance, 'now').mockReturnValue(0)
    const answers = new Answers([])
    answers.asked('key')
    answers.take(answer('key', 'old'), 1)
    const stop = answers.listen(() => {})
    now.mockReturnValue(100_000)
    expect(answers.known('key').data).toBe('old')
    stop()
    expect(answers.known('key').data).toBeUndefined()
    answers.listen(() => {})
    answers.watch('key')
    expect(answers.known('key').data).toBeUndefined()
  })

  it('is shown again at once after a short while', () => {
    const answers = new Answers([])
    const release = answers.watch('key')
    answers.take(answer('key', 'fresh'), 1)
    release()
    answers.watch('key')
    expect(answers.known('key').data).toBe('fresh')
  })

  it('is the same object until it changes', () => {
    const answers = new Answers([])
    let told = 0
    answers.listen(() => told++)
    answers.take(answer('key', { used: 1 }), 1)
    const before = answers.known('key')
    answers.take(answer('key', { used: 1 }), 2)
    expect(answers.known('key')).toBe(before)
    answers.take(answer('key', { used: 2 }), 3)
    expect(answers.known('key')).not.toBe(before)
    expect(told).toBe(2)
  })
})
