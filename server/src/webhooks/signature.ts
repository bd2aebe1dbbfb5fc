import { createHmac, randomBytes } from 'node:crypto'

const PREFIX = 'whsec_'
/** Standard Webhooks asks for 24 to 64. */
const SECRET_BYTES = 32

/** A new signing secret, in the form of Standard Webhooks. */
export const newSigningSecret = (): string => `${PREFIX}${randomBytes(SECRET_BYTES).toString('base64')}`

interface SignedMessage {
  id: string
  /** seconds since 1970 */
  timestamp: number
  body: string
}

/** The headers of Standard Webhooks, with one signature per secret: two while a secret is rotated. */
export function signatureHeaders(secrets: readonly string[], message: SignedMessage): Record<string, string> {
  return {
    'webhook-id': message.id,
    'webhook-timestamp': String(message.timestamp),
    'webhook-signature': secrets.map((secret) => `v1,${digest(secret, message)}`).join(' '),
  }
}

function digest(secret: string, { id, timestamp, body }: SignedMessage): string {
  const key = Buffer.from(secret.slice(PREFIX.length), 'base64')
  return createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64')
}
