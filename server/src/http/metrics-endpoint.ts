import { createHash, timingSafeEqual } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Service } from '../operations/call/service.ts'
import { METRICS_TYPE } from '../operations/upkeep/metrics.ts'
import { answerText } from './answer-text.ts'
import { credentialOf } from './credential.ts'

/** `/metrics`. `token`: required of the caller; null: no authentication. */
export async function answerMetrics(
  service: Service,
  token: string | null,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  if (token !== null && !isSame(credentialOf(request.headers) ?? '', token)) {
    response.setHeader('WWW-Authenticate', 'Bearer')
    return answerText(request, response, 401, 'The metrics require the token set in TOLLGATE_METRICS_TOKEN')
  }
  try {
    const metrics = await service.metrics.text()
    response.setHeader('Content-Type', METRICS_TYPE)
    answerText(request, response, 200, metrics)
  } catch (error) {
    service.log.error({ err: error }, 'metrics failed')
    answerText(request, response, 500, 'The metrics could not be collected')
  }
}

/** Constant time: digests have the same length. */
function isSame(given: string, token: string): boolean {
  const digest = (text: string) => createHash('sha256').update(text).digest()
  return timingSafeEqual(digest(given), digest(token))
}
