import type Stripe from 'stripe'
import { ProviderError } from '../provider.ts'

export const idOf = (thing: string | { id: string } | null | undefined): string | null =>
  typeof thing === 'string' ? thing : (thing?.id ?? null)

/** The result of a request; null if Stripe has no such object. */
export async function found<T>(ask: () => Promise<T>): Promise<T | null> {
  try {
    return await asked(ask)
  } catch (error) {
    if (error instanceof ProviderError && error.missing) return null
    throw error
  }
}

export async function asked<T>(ask: () => Promise<T>): Promise<T> {
  try {
    return await ask()
  } catch (error) {
    throw isStripeError(error) ? providerError(error) : error
  }
}

/** Checked by shape, because the module of the class is loaded only when needed. */
function isStripeError(error: unknown): error is Stripe.errors.StripeError {
  return error instanceof Error && 'rawType' in error
}

function providerError(error: Stripe.errors.StripeError): ProviderError {
  const unreachable =
    error.type === 'StripeConnectionError' ||
    error.type === 'StripeAPIError' ||
    error.type === 'StripeRateLimitError'
  const refusal =
    error.type === 'StripeAuthenticationError' || error.type === 'StripePermissionError'
      ? `the secret key is not valid; set another one in the dashboard (${error.message})`
      : error.message
  return new ProviderError(
    unreachable ? 'unreachable' : 'refused',
    refusal,
    error.code === 'resource_missing',
  )
}
