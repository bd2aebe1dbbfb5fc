import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { catalogueRoutes } from './catalogue.ts'
import { checkoutRoutes } from './checkout-routes.ts'
import { customerRoutes } from './customers.ts'
import { eventRoutes } from './events.ts'
import { expand } from './expand.ts'
import { Form } from './form.ts'
import { invoiceRoutes } from './invoice-routes.ts'
import { payPage } from './pay-page.ts'
import { paymentIntentRoutes } from './payment-intent-routes.ts'
import { paymentMethodRoutes } from './payment-methods.ts'
import { broken, keyReused, Refusal, unknownRoute, wrongKey } from './refusals.ts'
import { reversalRoutes } from './reversals.ts'
import type { Route } from './route.ts'
import { scheduleRoutes } from './schedule-routes.ts'
import { subscriptionRoutes } from './subscription-routes.ts'
import type { World } from './world.ts'

const ROUTES: Route[] = [
  ...catalogueRoutes,
  ...checkoutRoutes,
  ...customerRoutes,
  ...eventRoutes,
  ...invoiceRoutes,
  ...paymentIntentRoutes,
  ...paymentMethodRoutes,
  ...reversalRoutes,
  ...scheduleRoutes,
  ...subscriptionRoutes,
]

/** How requests fail until it is lifted. */
export type Outage =
  | { kind: 'unreachable' }
  /** done, but the answer never arrives */
  | { kind: 'answer lost' }
  | { kind: 'broken' }
  | { kind: 'refused'; refusal: Refusal }
  /** done at once, answered late */
  | { kind: 'slow'; milliseconds: number }
  /** done at once, answered when this is done: its notices may be handled before */
  | { kind: 'overtaken'; by: () => Promise<void> }

export interface Failing {
  outage: Outage
  /** which requests; all unless told */
  method?: string | RegExp
  path?: RegExp
  /** how many of them; all unless told */
  times?: number
}

export interface Asked {
  method: string
  path: string
  idempotencyKey: string | null
  status: number | null
}

interface Answer {
  status: number
  body: string
  requestId: string
  replayed?: boolean
}

/** The HTTP side: keys, request ids, idempotency, errors and outages. */
export class ApiServer {
  readonly #world: World
  readonly #key: string
  readonly #server: Server
  readonly #answered = new Map<string, { request: string; answer: Answer }>()
  readonly asked: Asked[] = []
  failing: Failing | null = null

  constructor(world: World, key: string) {
    this.#world = world
    this.#key = key
    this.#server = createServer((request, response) => {
      this.#serve(request, response).catch((error: unknown) => response.destroy(error as Error))
    })
  }

  async listen(): Promise<string> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve))
    const address = this.#server.address()
    if (address === null || typeof address === 'string') throw new Error('no port')
    return `http://127.0.0.1:${address.port}`
  }

  async close(): Promise<void> {
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()))
    this.#server.closeAllConnections()
    await closed
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? '/', 'http://127.0.0.1')
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk)
    const body = Buffer.concat(chunks).toString()
    const key = request.headers['idempotency-key']
    const asked: Asked = {
      method: request.method ?? '',
      path: url.pathname,
      idempotencyKey: typeof key === 'string' ? key : null,
      status: null,
    }
    this.asked.push(asked)
    const outage = this.#outageFor(asked)
    if (outage?.kind === 'unreachable') return void response.destroy()
    const page = payPage(this.#world, asked.method, asked.path)
    if (page) {
      response.writeHead(page.status, {
        'Content-Type': 'text/html; charset=utf-8',
        ...(page.location && { Location: page.location }),
      })
      return void response.end(page.html)
    }
    const answer = this.#answer(
      asked,
      request.headers.authorization ?? '',
      body || url.search.slice(1),
      outage,
    )
    if (outage?.kind === 'slow') await waitOrClose(response, outage.milliseconds)
    if (outage?.kind === 'overtaken') await outage.by()
    if (outage?.kind === 'answer lost') return void response.destroy()
    asked.status = answer.status
    response.writeHead(answer.status, {
      'Content-Type': 'application/json',
      'Request-Id': answer.requestId,
      'Stripe-Version': this.#world.apiVersion,
      ...(asked.idempotencyKey && { 'Idempotency-Key': asked.idempotencyKey }),
      ...(answer.replayed && { 'Idempotent-Replayed': 'true' }),
    })
    response.end(answer.body)
  }

  #outageFor({ method, path }: Asked): Outage | null {
    const failing = this.failing
    if (!failing) return null
    if (
      typeof failing.method === 'string' ? failing.method !== method : failing.method?.test(method) === false
    )
      return null
    if (failing.path && !failing.path.test(path)) return null
    if (failing.times !== undefined) {
      if (failing.times === 0) return null
      failing.times -= 1
    }
    return failing.outage
  }

  #answer(asked: Asked, authorization: string, encoded: string, outage: Outage | null): Answer {
    const requestId = this.#world.id('req')
    const { idempotencyKey: key } = asked
    const request = `${asked.method} ${asked.path} ${encoded}`
    try {
      this.#authenticate(authorization)
      if (outage?.kind === 'broken') throw broken()
      if (outage?.kind === 'refused') throw outage.refusal
      const before = key && asked.method === 'POST' ? this.#answered.get(key) : undefined
      if (before && before.request !== request) throw keyReused(key ?? '')
      if (before) return { ...before.answer, replayed: true }
      const answer = { status: 200, body: this.#run(asked, encoded, requestId), requestId }
      if (key) this.#answered.set(key, { request, answer })
      return answer
    } catch (error) {
      if (!(error instanceof Refusal)) throw error
      const answer = {
        status: error.status,
        body: JSON.stringify({ error: error.error }),
        requestId,
      }
      // What was refused for its parameters may be tried again under the same key; a decline stays one.
      if (key && error.status === 402) this.#answered.set(key, { request, answer })
      return answer
    }
  }

  #authenticate(authorization: string): void {
    const [scheme = '', value = ''] = authorization.split(' ')
    const key = scheme === 'Basic' ? (Buffer.from(value, 'base64').toString().split(':')[0] ?? '') : value
    if (key !== this.#key) throw wrongKey(key)
  }

  #run({ method, path, idempotencyKey }: Asked, encoded: string, requestId: string): string {
    const form = Form.parse(encoded)
    const expansions = form.texts('expand')
    const found = ROUTES.flatMap((route) => {
      const id = route.method === method ? matched(route.path, path) : null
      return id === null ? [] : [{ route, id }]
    })[0]
    if (!found) throw unknownRoute(method, path)
    this.#world.request = { id: requestId, idempotency_key: idempotencyKey }
    try {
      const answer = found.route.answer({ world: this.#world, form, id: found.id })
      form.refuseUnread()
      return JSON.stringify(expand(this.#world, answer, expansions))
    } finally {
      this.#world.request = null
    }
  }
}

/** What stands in the place of `:id`, empty where there is none; null where the path is another. */
function matched(pattern: string, path: string): string | null {
  const [wanted, given] = [pattern.split('/'), path.split('/')]
  if (wanted.length !== given.length) return null
  let id = ''
  for (const [at, segment] of wanted.entries()) {
    if (segment === ':id') id = decodeURIComponent(given[at] ?? '')
    else if (segment !== given[at]) return null
  }
  return id
}

/** Waits, unless the other side gives up before. */
async function waitOrClose(response: ServerResponse, milliseconds: number): Promise<void> {
  await new Promise<void>((resolve) => {
    const timer = setTimeout(resolve, milliseconds)
    response.once('close', () => {
      clearTimeout(timer)
      resolve()
    })
  })
}
