import { afterAll, beforeAll } from 'vitest'

type Closable = { stop(): Promise<unknown> } | { close(): Promise<unknown> }

/**
 * Opens something before the tests of the file or `describe` that calls this, and closes it after them. The result stands
 * for it from the first test, or the next `beforeAll`, on.
 */
export function shared<T extends Closable>(open: () => Promise<T>): T {
  let opened: T | null = null
  beforeAll(async () => {
    opened = await open()
  })
  afterAll(async () => {
    if (opened) await ('stop' in opened ? opened.stop() : opened.close())
  })
  const use = (): T => {
    if (!opened) throw new Error('nothing is open before the tests run')
    return opened
  }
  return new Proxy({} as T, {
    get(_, name) {
      const value = Reflect.get(use(), name)
      return typeof value === 'function' ? value.bind(opened) : value
    },
    set: (_, name, value) => Reflect.set(use(), name, value),
    ownKeys: () => Reflect.ownKeys(use()),
    getOwnPropertyDescriptor: (_, name) => Reflect.getOwnPropertyDescriptor(use(), name),
  })
}
