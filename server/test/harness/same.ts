import { isDeepStrictEqual } from 'node:util'
import { expect } from 'vitest'

/** `expect(is).toEqual(should)` for properties that ask it thousands of times: where they are the same, that is cheap. */
export function expectSame(is: unknown, should: unknown, message?: () => string): void {
  if (!isDeepStrictEqual(is, should)) expect(is, message?.()).toEqual(should)
}
