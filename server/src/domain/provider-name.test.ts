import { describe, expect, it } from 'vitest'
import { providerName, providerNameFirst } from './provider-name.ts'

describe('gap: billing, what a provider is called', () => {
  it.each([
    ['stripe', 'Stripe', 'Stripe'],
    ['sandbox', 'the sandbox', 'The sandbox'],
    // one that a later version knows
    ['paddle', 'paddle', 'Paddle'],
  ])('%s: %s, and %s at the start of a sentence', (provider, within, first) => {
    expect(providerName(provider)).toBe(within)
    expect(providerNameFirst(provider)).toBe(first)
  })
})
