const NAMES: Record<string, string> = { stripe: 'Stripe', sandbox: 'the sandbox' }

/** What a billing provider is called in the middle of a sentence. */
export const providerName = (provider: string): string => NAMES[provider] ?? provider

/** The same, where a sentence starts with it. */
export function providerNameFirst(provider: string): string {
  const name = providerName(provider)
  return name.charAt(0).toUpperCase() + name.slice(1)
}
