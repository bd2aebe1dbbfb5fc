import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Service } from '../operations/call/service.ts'
import { endResponse } from './body.ts'

/** How long verifiers may cache it, and so accept a revoked key. */
const MAX_AGE_SECONDS = 60

/** The public keys of user tokens, for offline verification: of all apps, or with ?app=ID of one. */
export async function answerJwks(
  service: Service,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  if (request.method !== 'GET' && request.method !== 'HEAD') {
    endResponse(request, response.writeHead(405, { Allow: 'GET, HEAD' }))
    return
  }
  const { searchParams } = new URL(request.url ?? '/', 'http://localhost')
  const app = searchParams.get('app')
  try {
    const found = await service.tokenKeys.publicKeys()
    const keys = found.filter(({ appId }) => app === null || appId === app).map(({ jwk }) => jwk)
    response.writeHead(200, {
      'Content-Type': 'application/jwk-set+json',
      'Cache-Control': `public, max-age=${MAX_AGE_SECONDS}`,
    })
    endResponse(request, response, JSON.stringify({ keys }))
  } catch (error) {
    service.log.error({ err: error }, 'the public keys could not be loaded')
    endResponse(request, response.writeHead(503))
  }
}
