/** What billing is told at the start. */
export interface BillingSettings {
  /** encrypts what is kept of the providers' secrets; itself sealed with the master key */
  sealingKey: Buffer
  /** signs what the sandbox sends */
  sandboxKey: Buffer
  /** Stripe's keys of one app, as the environment has them */
  environment: { appId: string; secretKey: string; webhookSecrets: string[] } | null
  /** null: Stripe itself */
  stripeApiBase: string | null
  /** base of the links that payers get */
  publicUrl: () => string
  /** where this process listens */
  ownUrl: () => string
}
