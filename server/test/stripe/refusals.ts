/** An answer with Stripe's error body. */
export class Refusal extends Error {
  readonly status: number
  readonly error: Record<string, unknown>

  constructor(status: number, type: string, message: string, more: Record<string, unknown> = {}) {
    super(message)
    this.status = status
    this.error = { type, message, ...more }
  }
}

const INVALID = 'invalid_request_error'

export const invalid = (message: string, param?: string, code?: string): Refusal =>
  new Refusal(400, INVALID, message, { ...(param && { param }), ...(code && { code }) })

export const missingParameter = (param: string): Refusal =>
  invalid(`Missing required param: ${param}.`, param, 'parameter_missing')

export const unknownParameter = (param: string): Refusal =>
  invalid(`Received unknown parameter: ${param}`, param, 'parameter_unknown')

export const noSuch = (kind: string, id: string, param = 'id', status = 404): Refusal =>
  new Refusal(status, INVALID, `No such ${kind}: '${id}'`, { code: 'resource_missing', param })

export const unknownRoute = (method: string, path: string): Refusal =>
  new Refusal(404, INVALID, `Unrecognized request URL (${method}: ${path}).`)

export const wrongKey = (key: string): Refusal =>
  new Refusal(
    401,
    INVALID,
    key === ''
      ? 'You did not provide an API key.'
      : `Invalid API Key provided: ${key.slice(0, 7)}****${key.slice(-4)}`,
  )

export const keyReused = (key: string): Refusal =>
  new Refusal(
    400,
    'idempotency_error',
    `Keys for idempotent requests can only be used with the same parameters they were first used with: '${key}'.`,
  )

export const cardDeclined = (code = 'generic_decline'): Refusal =>
  new Refusal(402, 'card_error', 'Your card was declined.', { code: 'card_declined', decline_code: code })

export const rateLimited = (): Refusal =>
  new Refusal(429, INVALID, 'Too many requests hit the API too quickly.', { code: 'rate_limit' })

export const broken = (): Refusal => new Refusal(500, 'api_error', 'An unknown error occurred.')
