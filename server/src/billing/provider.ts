/** What a payment link is made of. */
interface LinkRequest {
  appId: string
  /** null: the payer becomes a user when the payment is done */
  user: { id: string; billingId: string | null; email: string | null } | null
  templateId: string
  successUrl: string
  cancelUrl: string
}

/** Whoever takes the money. Refusals are thrown as SUBSCRIPTION_LINK_ERROR with what to do about them. */
export interface BillingProvider {
  createLink(request: LinkRequest): Promise<{ url: string }>
}
