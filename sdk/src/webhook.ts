import type { WebhookEvent } from './types/events.ts'

/** Reason why a webhook was rejected. */
export type WebhookProblem =
  /** A header is missing or malformed. */
  | 'HEADERS'
  /** The time of the request differs too much from now: it may be a replay, or a clock is wrong. */
  | 'TIMESTAMP'
  /** No signature was made with the secret over exactly this body. */
  | 'SIGNATURE'
  /** The body is signed, but is not an event. */
  | 'BODY'

/** A request that is not a genuine webhook. Answer it with 400. */
export class WebhookVerificationError extends Error {
  /** Name of the class. */
  override readonly name = 'WebhookVerificationError'
  /** Machine-readable reason. */
  readonly problem: WebhookProblem

  /** `message` describes the problem for people. */
  constructor(problem: WebhookProblem, message: string) {
    super(message)
    this.problem = problem
  }
}

/** Headers of a request: of `fetch`, or of Node. */
export type WebhookHeaders =
  | { get(name: string): string | null }
  | Readonly<Record<string, string | readonly string[] | undefined>>

/** Options of `verifyWebhook`. */
export interface VerifyOptions {
  /** Accepted difference in seconds between the time of the request and now. @default 300 */
  tolerance?: number | undefined
}

/** Not every runtime has the type of a key among its types. */
type HmacKey = Awaited<ReturnType<typeof crypto.subtle.importKey>>

const TOLERANCE_SECONDS = 300
const PREFIX = 'whsec_'

/**
 * Verifies a webhook and returns its event. Throws a `WebhookVerificationError` if the request does not come from
 * Tollgate, was changed or is too old. `rawBody` is the body as received: parsed and written again it has other bytes.
 *
 * @example
 * const event = await verifyWebhook(request.headers, await request.text(), secret)
 * if (event.type === 'subscription.ended') console.log(event.data.object.packageId)
 */
export async function verifyWebhook(
  headers: WebhookHeaders,
  rawBody: string | Uint8Array | ArrayBuffer,
  secret: string,
  { tolerance = TOLERANCE_SECONDS }: VerifyOptions = {},
): Promise<WebhookEvent> {
  const id = headerOf(headers, 'webhook-id')
  const timestamp = headerOf(headers, 'webhook-timestamp')
  const signatures = headerOf(headers, 'webhook-signature')
  if (!/^\d{1,12}$/.test(timestamp)) throw rejected('HEADERS', 'The header webhook-timestamp is not a time')
  const key = await keyOf(secret)
  const body = bytesOf(rawBody)
  const content = concatenated(bytesOf(`${id}.${timestamp}.`), body)
  if (!(await isSigned(key, signatures, content))) {
    throw rejected(
      'SIGNATURE',
      'No signature matches. Check the secret, and pass the body exactly as received.',
    )
  }
  if (!(Math.abs(Date.now() / 1000 - Number(timestamp)) <= tolerance)) {
    throw rejected(
      'TIMESTAMP',
      'The time of the webhook differs too much from now. Check the clock of this machine.',
    )
  }
  return eventOf(body)
}

/** During a rotation there are several signatures, of which one must match. */
async function isSigned(
  key: HmacKey,
  signatures: string,
  content: Uint8Array<ArrayBuffer>,
): Promise<boolean> {
  let found = false
  for (const each of signatures.split(' ')) {
    const [version, encoded = ''] = each.split(',', 2)
    const signature = version === 'v1' ? fromBase64(encoded) : null
    // Compares in constant time.
    if (signature && (await crypto.subtle.verify('HMAC', key, signature, content))) found = true
  }
  return found
}

function keyOf(secret: string): Promise<HmacKey> {
  const bytes =
    typeof secret === 'string' && secret.startsWith(PREFIX) ? fromBase64(secret.slice(PREFIX.length)) : null
  if (!bytes || bytes.length === 0) {
    throw new TypeError('secret must be the signing secret of the webhook endpoint, which starts with whsec_')
  }
  return crypto.subtle.importKey('raw', bytes, { name: 'HMAC', hash: 'SHA-256' }, false, ['verify'])
}

function headerOf(headers: WebhookHeaders, name: string): string {
  const value =
    'get' in headers && typeof headers.get === 'function' ? headers.get(name) : valueIn(headers, name)
  if (!value) throw rejected('HEADERS', `The header ${name} is missing`)
  return value
}

function valueIn(headers: WebhookHeaders, name: string): string | null {
  for (const [key, value] of Object.entries(headers)) {
    if (key.toLowerCase() !== name) continue
    if (typeof value === 'string') return value
    return Array.isArray(value) && typeof value[0] === 'string' ? value[0] : null
  }
  return null
}

function eventOf(body: Uint8Array<ArrayBuffer>): WebhookEvent {
  try {
    const event: unknown = JSON.parse(new TextDecoder().decode(body))
    if (typeof event === 'object' && event !== null && 'type' in event && typeof event.type === 'string')
      return event as WebhookEvent
  } catch {
    // Not JSON.
  }
  throw rejected('BODY', 'The body of the webhook is not an event')
}

function bytesOf(data: string | Uint8Array | ArrayBuffer): Uint8Array<ArrayBuffer> {
  if (typeof data === 'string') return new TextEncoder().encode(data)
  if (data instanceof ArrayBuffer) return new Uint8Array(data)
  // A parsed body would be neither.
  if (data instanceof Uint8Array) return new Uint8Array(data)
  throw new TypeError('rawBody must be the body as received: a string or bytes, not a parsed object')
}

function concatenated(a: Uint8Array, b: Uint8Array): Uint8Array<ArrayBuffer> {
  const both = new Uint8Array(a.length + b.length)
  both.set(a)
  both.set(b, a.length)
  return both
}

/** Null: not base64. */
function fromBase64(text: string): Uint8Array<ArrayBuffer> | null {
  try {
    return Uint8Array.from(atob(text), (character) => character.charCodeAt(0))
  } catch {
    return null
  }
}

const rejected = (problem: WebhookProblem, message: string) => new WebhookVerificationError(problem, message)
