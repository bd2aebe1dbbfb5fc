/** An object at a billing provider: a subscription, checkout or customer. */
export interface ProviderRef {
  appId: string
  provider: string
  /** the provider's id for it */
  ref: string
}
