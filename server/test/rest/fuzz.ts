import { expect } from 'vitest'
import type { RestOperation } from '../../src/rest/operation.ts'
import { restOperations } from '../../src/rest/operations.ts'
import { inDays } from '../examples/example.ts'
import { furnishWorld } from '../examples/world.ts'
import { named } from '../harness/many.ts'
import { type RestAnswer, RestClient } from '../harness/rest.ts'
import { createApp, type TestServer } from '../harness/server.ts'
import { between, pick, type Random, seeded } from '../stripe/random.ts'
import { answerChecker, described, type Parameter, referred, type Schema } from './answers.ts'

interface Run {
  requests: number
  seed: number
}

/** How often each operation answered with each status. */
type Statuses = Map<string, Map<number, number>>

/**
 * Sends requests that are made from the OpenAPI document: mostly as it says, partly odd. Each answer must be one that the
 * document describes, and none may be an internal error.
 */
export async function fuzz(server: TestServer, { requests, seed }: Run): Promise<Statuses> {
  const id = `fuzz-${seed}`
  const app = { id, admin: await createApp(server, id), dashboard: server.dashboard.of(id) }
  const { migration, subscription, endpoint, quietEndpoint } = await furnishWorld(server, app, { count: 5 })
  const rest = new RestClient(server.url, { ...app.admin.headers })
  const check = answerChecker()
  const random = seeded(seed)
  const maker = new Maker(random, {
    subscription: [subscription],
    migration: [migration],
    'webhook-endpoint': [endpoint, quietEndpoint],
  })
  const statuses: Statuses = new Map()
  for (let sent = 0; sent < requests; sent++) {
    // Each once, at first.
    const operation = restOperations()[sent] ?? pickOperation(random)
    const { headers, method, path, body, type } = maker.request(operation)
    const answer = await rest.with(headers).raw(method, path, { ...(body !== undefined && { body, type }) })
    const what = `seed ${seed}, request ${sent + 1}: ${method} ${path} ${body?.slice(0, 1_000)}`
    expect(answer.status, `${what} ${answer.text}`).toBeLessThan(500)
    try {
      check(operation, answer)
    } catch (error) {
      throw new Error(what, { cause: error })
    }
    maker.learn(operation, answer)
    const counts = statuses.get(operation.name) ?? new Map<number, number>()
    statuses.set(operation.name, counts.set(answer.status, (counts.get(answer.status) ?? 0) + 1))
  }
  return statuses
}

/** Rarely one that deletes, so that there is something left for the others. */
function pickOperation(random: Random): RestOperation {
  const operation = pick(random, restOperations())
  const isRare = /^(delete|remove|void)/.test(operation.name) && random() < 0.9
  return isRare ? pick(random, restOperations()) : operation
}

/** Texts that exist in the furnished app, so that requests find something. */
const KNOWN: Record<string, readonly string[]> = {
  user: ['ann', 'bob', ...named('u', 5)],
  feature: ['calls', 'seats', 'storage', 'export', ...named('f', 5)],
  package: ['plan', 'rival', 'draft', ...named('a', 5)],
  template: ['plan'],
  time: [inDays(20), inDays(40), inDays(60), '2999-12-31T23:59:59Z', 'tomorrow'],
  url: ['https://shop.example/x', 'http://localhost:1', 'javascript:1'],
  status: ['DRAFT', 'PUBLISHED'],
  type: ['user.created', 'usage.recorded'],
  entity: ['team:7', 'agent:42', 'no type'],
}

/** Which of them a value is, by its name or by the noun in its path. */
const KINDS: readonly [pattern: RegExp, kind: string][] = [
  [/^userId$/, 'user'],
  [/^featureIds?$/, 'feature'],
  [/^(packageIds?|then)$/, 'package'],
  [/^templateId$/, 'template'],
  [/^(until|effectiveAt|expiresAt|from|to)$/, 'time'],
  [/^entit(y|ies)$/, 'entity'],
  [/^endpointId$/, 'webhook-endpoint'],
  [/^types$/, 'type'],
  [/^url$|Url$/, 'url'],
  [/^status$/, 'status'],
]

/** Paths whose answers contain ids of a kind. */
const LEARNED: readonly [pattern: RegExp, kind: string][] = [
  [/subscriptions|start-trial/, 'subscription'],
  [/migrations/, 'migration'],
  [/credits/, 'credit'],
  [/reservations/, 'reservation'],
  [/^\/v1\/webhook-endpoints$/, 'webhook-endpoint'],
]

const ODD_TEXTS = [
  '',
  ' ',
  '0',
  '...',
  'a/b',
  'größe🎉',
  '\u0000',
  '\ud83d',
  "'; --",
  '__proto__',
  'x'.repeat(300),
]
const ODD_VALUES: readonly unknown[] = [null, true, -1, 1.5, 1e300, '', [], {}, [[]], { a: 1 }]

class Maker {
  readonly #random: Random
  /** ids from answers, by kind */
  readonly #learned: Record<string, string[]>

  constructor(random: Random, known: Record<string, string[]>) {
    this.#random = random
    this.#learned = known
  }

  request(operation: RestOperation) {
    const { parameters = [], requestBody } = described(operation)
    const all = parameters.map(referred<Parameter>)
    const noun = /^\/v1\/([\w-]+?)s(?:\/|$)/.exec(operation.route.path)?.[1] ?? ''
    const path = all
      .filter((parameter) => parameter.in === 'path')
      .reduce<string>((text, { name }) => {
        const value = this.#text(name === 'id' ? noun : kindOf(name))
        return text.replace(`{${name}}`, encodeURIComponent(value.toWellFormed()) || '%20')
      }, operation.route.path)
    const query = this.#query(all.filter((parameter) => parameter.in === 'query'))
    const headers: Record<string, string> = {}
    if (this.#chance(0.05)) headers['Idempotency-Key'] = `key-${between(this.#random, 1, 5)}`
    const schema = requestBody?.content['application/json']?.schema
    const body = schema && this.#body(schema, noun)
    const type = this.#chance(0.02) ? 'text/plain' : 'application/json'
    return { method: operation.route.method, path: `${path}${query}`, headers, body, type }
  }

  /** Remembers the ids that only an answer contains. */
  learn({ route }: RestOperation, { status, body }: RestAnswer): void {
    if (status >= 300 || !body) return
    const kind = LEARNED.find(([pattern]) => pattern.test(route.path))?.[1]
    if (kind === undefined) return
    const objects = Array.isArray(body.data) ? body.data : [body]
    const ids = objects.flatMap(({ id }) => (typeof id === 'string' ? [id] : []))
    this.#learned[kind] = [...(this.#learned[kind] ?? []), ...ids].slice(-20)
  }

  #chance(share: number): boolean {
    return this.#random() < share
  }

  #text(kind: string): string {
    if (this.#chance(0.05)) return pick(this.#random, ODD_TEXTS)
    if (this.#chance(0.1)) return `new-${between(this.#random, 1, 20)}`
    const texts = [...(KNOWN[kind] ?? []), ...(this.#learned[kind] ?? [])]
    return texts.length > 0 ? pick(this.#random, texts) : `new-${between(this.#random, 1, 20)}`
  }

  #query(parameters: readonly Parameter[]): string {
    const pairs = parameters.flatMap(({ name, required, schema }): [string, string][] => {
      if (this.#chance(required ? 0.05 : 0.5)) return []
      const value = this.#value(schema, kindOf(name))
      return [[name, typeof value === 'string' ? value.toWellFormed() : String(value)]]
    })
    if (this.#chance(0.03)) pairs.push(['odd', '1'])
    return pairs.length === 0 ? '' : `?${new URLSearchParams(pairs)}`
  }

  #body(schema: Schema, noun: string): string {
    if (this.#chance(0.02)) return pick(this.#random, ['', '{', '[]', 'null', '"x"', '{"a":}'])
    return JSON.stringify(this.#value(schema, noun))
  }

  #value(schema: Schema, kind: string): unknown {
    if (this.#chance(0.02)) return pick(this.#random, ODD_VALUES)
    if (schema.$ref !== undefined) return this.#value(referred<Schema>({ $ref: schema.$ref }), kind)
    if (schema.anyOf) return this.#value(pick(this.#random, schema.anyOf), kind)
    const type = typeof schema.type === 'string' ? schema.type : pick(this.#random, schema.type ?? ['null'])
    if (schema.enum) return pick(this.#random, schema.enum)
    switch (type) {
      case 'string':
        return this.#text(kind)
      case 'integer':
        return this.#integer(schema)
      case 'boolean':
        return this.#chance(0.5)
      case 'array':
        return Array.from({ length: between(this.#random, 0, 3) }, () =>
          this.#value(schema.items ?? {}, kind),
        )
      case 'object':
        return this.#object(schema, kind)
      default:
        return null
    }
  }

  #integer({ minimum = 0, maximum = 0 }: Schema): number {
    if (this.#chance(0.05)) return pick(this.#random, [minimum, maximum, minimum - 1, maximum + 1])
    return between(this.#random, -1, 5)
  }

  #object({ properties = {}, required = [] }: Schema, kind: string): Record<string, unknown> {
    const object: Record<string, unknown> = {}
    for (const [name, schema] of Object.entries(properties)) {
      if (this.#chance(required.includes(name) ? 0.03 : 0.75)) continue
      object[name] = this.#value(schema, name === 'id' ? kind : kindOf(name))
    }
    if (this.#chance(0.02)) object.odd = 1
    return object
  }
}

const kindOf = (name: string): string => KINDS.find(([pattern]) => pattern.test(name))?.[1] ?? ''
