import { describe, expect, it } from 'vitest'
import { BoundedWork } from './password-work.ts'

/** Work that ends when told to, and reports the order in which it started. */
function works(atOnce: number, waiting: number) {
  const work = new BoundedWork(atOnce, waiting)
  const begun: string[] = []
  const end = new Map<string, () => void>()
  const run = (name: string, ahead = false) =>
    work.run(
      () =>
        new Promise<string>((resolve) => {
          begun.push(name)
          end.set(name, () => resolve(name))
        }),
      { ahead },
    )
  return { work, run, begun, end: (name: string) => end.get(name)?.() }
}

describe('gap: how many passwords are hashed at once', () => {
  it('so many and no more; the others take their turn', async () => {
    const { run, begun, end } = works(2, 2)
    const all = ['a', 'b', 'c', 'd'].map((name) => run(name))
    expect(begun).toEqual(['a', 'b'])
    await expect(run('e')).rejects.toMatchObject({ code: 'RATE_LIMITED', retryAfter: 1 })
    end('b')
    await all[1]
    await new Promise(setImmediate)
    expect(begun).toEqual(['a', 'b', 'c'])
    for (const name of ['a', 'c']) end(name)
    await all[2]
    await new Promise(setImmediate)
    end('d')
    expect(await Promise.all(all)).toEqual(['a', 'b', 'c', 'd'])
  })

  it('lets known browsers go first, even when strangers fill the queue', async () => {
    const { run, begun, end } = works(1, 2)
    const all = [run('a'), run('b'), run('c'), run('known', true)]
    end('a')
    await all[0]
    await new Promise(setImmediate)
    expect(begun).toEqual(['a', 'known'])
    for (const name of ['known', 'b', 'c']) {
      end(name)
      await new Promise(setImmediate)
    }
    await Promise.all(all)
  })

  it('frees its slot when the work fails', async () => {
    const { work, run, end } = works(1, 0)
    await expect(work.run(() => Promise.reject(new Error('failed')))).rejects.toThrow('failed')
    const next = run('next')
    end('next')
    expect(await next).toBe('next')
  })
})
