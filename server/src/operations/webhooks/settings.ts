/** Shared by all webhook operations. */
export interface WebhookSettings {
  /** encrypts signing secrets; itself sealed with the master key */
  sealingKey: Buffer
  /** whether endpoints in private networks, and without TLS, are allowed */
  allowPrivate: boolean
}
