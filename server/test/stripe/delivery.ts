import { createHmac } from 'node:crypto'
import { Agent, request } from 'node:http'
import type Stripe from 'stripe'
import { between, pick, type Random, shuffled } from './random.ts'

export interface Endpoint {
  /** where its notices may arrive: one address, or one for each process behind it */
  urls: string[]
  secret: string
  /** what it is told of; everything unless told */
  types?: readonly string[]
}

/** What becomes of the notices that wait. */
export interface Plan {
  /** how often each is sent, at least and at most */
  copies?: [least: number, most: number]
  shuffle?: boolean
  /** how likely one stays behind for the next time */
  delay?: number
  /** how likely one is never sent */
  drop?: number
  /** how many are under way at once */
  atOnce?: number
}

export interface Attempt {
  event: Stripe.Event
  url: string
  /** null: nobody answered */
  status: number | null
}

export function signature(payload: string, secret: string, timestamp: number): string {
  const mac = createHmac('sha256', secret).update(`${timestamp}.${payload}`).digest('hex')
  return `t=${timestamp},v1=${mac}`
}

/** Sends what happened to whoever registered: held back until it is told to deliver, by a plan. */
export class Delivery {
  readonly #endpoints = new Set<Endpoint>()
  readonly #random: Random
  readonly #agent = new Agent({ keepAlive: true })
  #waiting: Stripe.Event[] = []
  readonly attempts: Attempt[] = []
  /** never sent, by a plan's will */
  readonly dropped: Stripe.Event[] = []

  constructor(random: Random) {
    this.#random = random
  }

  /** Returns what takes it back. */
  register(endpoint: Endpoint): () => void {
    this.#endpoints.add(endpoint)
    return () => this.#endpoints.delete(endpoint)
  }

  add(event: Stripe.Event): void {
    this.#waiting.push(event)
  }

  get waiting(): readonly Stripe.Event[] {
    return this.#waiting
  }

  close(): void {
    this.#agent.destroy()
  }

  /** Sends what waits. What was not taken (any answer but 2xx) waits again, as it would for a retry. */
  async deliver(plan: Plan = {}): Promise<void> {
    const [least, most] = plan.copies ?? [1, 1]
    const sent: Stripe.Event[] = []
    const later: Stripe.Event[] = []
    for (const event of this.#waiting) {
      const lot = this.#random()
      if (lot < (plan.drop ?? 0)) this.dropped.push(event)
      else if (lot < (plan.drop ?? 0) + (plan.delay ?? 0)) later.push(event)
      else for (let copies = between(this.#random, least, most); copies > 0; copies -= 1) sent.push(event)
    }
    this.#waiting = later
    const queue = plan.shuffle ? shuffled(this.#random, sent) : sent
    const refused = new Set<Stripe.Event>()
    const send = async (): Promise<void> => {
      for (let event = queue.shift(); event; event = queue.shift()) {
        for (const endpoint of this.#endpoints) {
          const listens = endpoint.types?.includes(event.type) ?? true
          if (listens && !(await this.#send(event, endpoint))) refused.add(event)
        }
      }
    }
    await Promise.all(Array.from({ length: plan.atOnce ?? 1 }, send))
    this.#waiting.push(...refused)
  }

  async #send(event: Stripe.Event, { urls, secret }: Endpoint): Promise<boolean> {
    const url = pick(this.#random, urls)
    const payload = JSON.stringify(event)
    // Signed when it is sent, by real time, also where the stand-in's own clock is elsewhere.
    const header = signature(payload, secret, Math.floor(Date.now() / 1000))
    const status = await post(url, payload, header, this.#agent)
    this.attempts.push({ event, url, status })
    return status !== null && status >= 200 && status < 300
  }
}

/** The status of the answer; null where nobody answered, which is sent again with the next delivery. */
function post(url: string, body: string, header: string, agent: Agent): Promise<number | null> {
  return new Promise((resolve) => {
    const headers = {
      'Content-Type': 'application/json; charset=utf-8',
      'Content-Length': Buffer.byteLength(body),
      'Stripe-Signature': header,
    }
    const sent = request(url, { method: 'POST', agent, headers }, (response) => {
      response.resume().once('close', () => resolve(response.statusCode ?? null))
    })
    sent.once('error', () => resolve(null))
    sent.end(body)
  })
}
