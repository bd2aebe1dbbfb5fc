const NAMES: Record<string, string> = { stripe: 'Stripe', sandbox: 'the sandbox' }

/** Name of a billing provider within a sentence. */
export const providerName = (provider: string): string => NAMES[provider] ?? provider

/** Name of a billing provider at the start of a sentence. */
export function providerNameFirst(provider: string): string {
  const name = providerName(provider)
  return name.charAt(0).toUpperCase() + name.slice(1)
}
