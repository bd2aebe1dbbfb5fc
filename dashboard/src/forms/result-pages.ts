/** Tollgate's pages for payers, who have no account here: a receipt, and a page that says that nothing was charged. */
export function resultPages(appId: string): { successUrl: string; cancelUrl: string } {
  const app = encodeURIComponent(appId)
  return {
    successUrl: `${location.origin}/checkout/paid?app=${app}&session={CHECKOUT_SESSION_ID}`,
    cancelUrl: `${location.origin}/checkout/cancelled`,
  }
}
