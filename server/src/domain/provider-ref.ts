/** Where something is at a billing provider: a subscription, a checkout or a customer. */
export interface ProviderRef {
  appId: string
  provider: string
  /** the provider's id for it */
  ref: string
}
