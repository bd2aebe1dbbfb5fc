import { createHash } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import { badRequest, unauthenticated } from '../domain/errors.ts'
import { MAX_CACHED_KEYS, MAX_COST, MAX_IDEMPOTENCY_KEY_CHARACTERS } from '../domain/limits.ts'
import type { AdminContext } from '../graphql/admin/context.ts'
import { adminSchema } from '../graphql/admin/schema.ts'
import { LongLists } from '../graphql/engine/long-lists.ts'
import { callerWithKey } from '../operations/apps/callers.ts'
import type { Deadline } from '../operations/call/deadline.ts'
import type { Service } from '../operations/call/service.ts'
import type { AppCaller } from '../store/apps/app-cache.ts'
import type { Admission } from './admission.ts'
import { credentialOf } from './credential.ts'
import type { Exchange } from './exchange.ts'
import type { Endpoint } from './graphql-handler.ts'

/** Callers with an API key, of GraphQL and REST. */
export interface AdminEndpoint extends Endpoint<AppCaller> {
  /** `target`: the method and path of REST, which are part of the request that an Idempotency-Key identifies. */
  context(
    caller: AppCaller,
    exchange: Exchange,
    body: Buffer,
    deadline: Deadline,
    target?: string,
  ): AdminContext
}

export function adminEndpoint(service: Service, admission: Admission): AdminEndpoint {
  // Cached by the keys themselves, which every request contains: hashing them first would add 1.4 µs to each check.
  const hashes = new LRUCache<string, string>({ max: MAX_CACHED_KEYS })
  const refuse = (exchange: Exchange): never => {
    admission.failed(exchange)
    throw unauthenticated()
  }
  const letIn = (exchange: Exchange, key: string, hash: string, caller: AppCaller | null): AppCaller => {
    if (!caller) {
      hashes.delete(key)
      return refuse(exchange)
    }
    admission.key(exchange, hash)
    hashes.set(key, hash)
    return caller
  }
  return {
    schema: adminSchema(),
    limits: { cost: MAX_COST },
    authenticate(exchange) {
      const key = credentialOf(exchange.headers)
      const kept = key === null ? undefined : hashes.get(key)
      // A key accepted before is looked up regardless of other requests from its address.
      if (kept === undefined) admission.visitor(exchange)
      if (key === null) return refuse(exchange)
      const hash = kept ?? hashOf(key).toString('hex')
      const known = service.apps.recognise(hash)
      if (kept && known) {
        admission.key(exchange, hash)
        return known
      }
      if (known) return letIn(exchange, key, hash, known)
      return callerWithKey(service, hash).then((caller) => letIn(exchange, key, hash, caller))
    },
    context(caller, exchange, body, deadline, target = ''): AdminContext {
      const key = idempotencyKeyOf(exchange)
      const idempotency = key === null ? null : { key, request: hashOf(target, body) }
      return { service, caller, idempotency, deadline, lists: new LongLists() }
    },
  }
}

function idempotencyKeyOf({ headers }: Exchange): string | null {
  const key = headers['idempotency-key']
  if (key === undefined) return null
  if (typeof key !== 'string' || key === '' || key.length > MAX_IDEMPOTENCY_KEY_CHARACTERS) {
    throw badRequest(`Idempotency-Key must be 1 to ${MAX_IDEMPOTENCY_KEY_CHARACTERS} characters long`)
  }
  return key
}

// Keys are looked up by hash, so the time it takes reveals nothing about the key.
function hashOf(...parts: (string | Buffer)[]): Buffer {
  const hash = createHash('sha256')
  for (const part of parts) hash.update(part)
  return hash.digest()
}
