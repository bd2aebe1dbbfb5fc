import { graphql } from '../api/graphql.ts'
import { useAsk } from '../api/use-api.ts'

const ACCOUNTS = graphql(`
  query ProviderModes($appId: String!) {
    providerAccounts(appId: $appId) { provider livemode }
  }
`)

/** Where Stripe's own dashboard shows an object; null for objects without a page. */
export function stripeLink(ref: string, livemode: boolean): string | null {
  const page = { sub: 'subscriptions', in: 'invoices', pi: 'payments', ch: 'payments' }[
    ref.split('_')[0] ?? ''
  ]
  return page === undefined
    ? null
    : `https://dashboard.stripe.com/${livemode ? '' : 'test/'}${page}/${encodeURIComponent(ref)}`
}

/** The page of an object at its provider; null if there is none. */
export function useProviderLink(
  appId: string,
  of: { provider: string; ref: string } | null | undefined,
): string | null {
  const linkTo = useProviderLinks(appId, of?.provider === 'stripe')
  return of ? linkTo(of) : null
}

/** The same for many objects. */
export function useProviderLinks(appId: string, enabled = true) {
  const accounts = useAsk(ACCOUNTS, { appId }, { enabled }).data?.providerAccounts
  return ({ provider, ref }: { provider: string; ref: string }): string | null => {
    const account = accounts?.find((one) => one.provider === provider)
    if (provider !== 'stripe' || !account) return null
    return stripeLink(ref, account.livemode === true)
  }
}
