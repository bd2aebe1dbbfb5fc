import { createHash } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { badRequest, unauthenticated } from '../domain/errors.ts'
import { MAX_IDEMPOTENCY_KEY_CHARACTERS } from '../domain/limits.ts'
import { adminSchema } from '../graphql/admin.ts'
import type { AdminContext } from '../graphql/context.ts'
import type { Service } from '../operations/call.ts'
import type { Caller } from '../store/app-cache.ts'
import type { Endpoint } from './graphql-handler.ts'

export function adminEndpoint(service: Service): Endpoint<Caller> {
  return {
    schema: adminSchema(),
    async authenticate(request) {
      const key = apiKeyOf(request)
      const caller =
        key === null ? null : await service.apps.authenticate(service.pool, hashOf(key).toString('hex'))
      if (!caller) throw unauthenticated()
      return caller
    },
    context(caller, request, _response, body): AdminContext {
      const key = idempotencyKeyOf(request)
      return { service, caller, idempotency: key === null ? null : { key, request: hashOf(body) } }
    },
  }
}

/** Bare, as the spec has it, or after `Bearer`. */
function apiKeyOf(request: IncomingMessage): string | null {
  const header = request.headers.authorization?.trim()
  return header ? header.replace(/^Bearer\s+/i, '') : null
}

function idempotencyKeyOf(request: IncomingMessage): string | null {
  const key = request.headers['idempotency-key']
  if (key === undefined) return null
  if (typeof key !== 'string' || key === '' || key.length > MAX_IDEMPOTENCY_KEY_CHARACTERS) {
    throw badRequest(`Idempotency-Key must be 1 to ${MAX_IDEMPOTENCY_KEY_CHARACTERS} characters long`)
  }
  return key
}

// Keys are looked up by their hash: how long that takes tells nothing about the key itself.
const hashOf = (value: string | Buffer): Buffer => createHash('sha256').update(value).digest()
