import type { IncomingMessage, ServerResponse } from 'node:http'
import { TollgateError } from '../domain/errors.ts'
import { type NoticeReceipt, receiveNotice } from '../operations/billing/receive-notice.ts'
import type { Service } from '../operations/call/service.ts'
import { endResponse, readBody } from './body.ts'

const WORDS: Record<NoticeReceipt, string> = {
  accepted: 'ok',
  duplicate: 'ok (duplicate)',
  signature: 'Invalid signature. Check the webhook signing secret in the dashboard.',
  stale: 'The signature has expired. Check the system clocks.',
  malformed: 'The body must be a JSON event whose IDs are strings without control characters',
  'unknown app': 'Invalid signature. Check the webhook signing secret in the dashboard.',
  'not set up': 'Invalid signature. Check the webhook signing secret in the dashboard.',
}

/** `/webhooks/{provider}/{app}`: receives webhook events for an app. */
export async function answerWebhook(
  service: Service,
  path: string,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const answer = (status: number, text: string) => {
    response.writeHead(status, { 'Content-Type': 'text/plain; charset=utf-8', 'Cache-Control': 'no-store' })
    endResponse(request, response, `${text}\n`)
  }
  if (request.method !== 'POST') {
    response.setHeader('Allow', 'POST')
    return answer(405, 'Only POST is supported here')
  }
  const [, , provider = '', app = '', ...more] = path.split('/')
  if (more.length > 0) return answer(404, 'Webhook not found')
  try {
    const { headers } = request
    const signature = headers['stripe-signature'] ?? headers['tollgate-signature']
    const receipt = await receiveNotice(service, {
      provider,
      appId: decoded(app),
      body: await readBody(request),
      signature: typeof signature === 'string' ? signature : undefined,
    })
    if (receipt === null) return answer(404, 'Webhook not found')
    answer(receipt === 'accepted' || receipt === 'duplicate' ? 200 : 400, WORDS[receipt])
  } catch (error) {
    if (error instanceof TollgateError) return answer(error.status, error.message)
    // The provider retries until it is accepted.
    service.log.error({ err: error, path }, 'a webhook event could not be stored')
    answer(503, 'Internal error; retry.')
  }
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return ''
  }
}
