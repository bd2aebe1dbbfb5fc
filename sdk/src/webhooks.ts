export type * from './types/events.ts'
export {
  type VerifyOptions,
  verifyWebhook,
  type WebhookHeaders,
  type WebhookProblem,
  WebhookVerificationError,
} from './webhook.ts'
