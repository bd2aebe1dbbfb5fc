/** Billing settings, fixed at the start. */
export interface BillingSettings {
  /** encrypts stored provider secrets; itself sealed with the master key */
  sealingKey: Buffer
  /** signs the sandbox's events */
  sandboxKey: Buffer
  /** Stripe keys of one app, from the environment */
  environment: { appId: string; secretKey: string; webhookSecrets: string[] } | null
  /** null: Stripe itself */
  stripeApiBase: string | null
  /** base of payment links */
  publicUrl: () => string
  /** where this process listens */
  ownUrl: () => string
}
