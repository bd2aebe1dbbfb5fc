import { describe, expect, it } from 'vitest'
import { counted, deletionRefusal } from './deletion.ts'

describe('gap: deleting, the reason why not', () => {
  it.each([
    [[], null],
    [[null, null], null],
    [[counted('has', 0, 'subscription', 'subscriptions')], null],
    [
      [counted('has', 1204, 'subscription', 'subscriptions')],
      'The package "pro" has 1,204 subscriptions. Archive it instead.',
    ],
    [
      [counted('has', 1, 'subscription', 'subscriptions'), null, 'is sold', 'is old'],
      'The package "pro" has 1 subscription, is sold and is old. Archive it instead.',
    ],
  ] satisfies [(string | null)[], string | null][])('%j: %s', (reasons, refusal) => {
    expect(deletionRefusal('package', 'pro', reasons)).toBe(refusal)
  })
})
