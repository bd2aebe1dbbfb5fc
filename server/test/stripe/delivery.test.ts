import { createServer, type Server } from 'node:http'
import Stripe from 'stripe'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { subscribed } from './examples.ts'
import { type StripeStandIn, startStripe } from './stand-in.ts'

const SECRET = 'whsec_of_this_test'

interface Received {
  path: string
  event: Stripe.Event
}

let stripe: StripeStandIn
let receiver: Server
let received: Received[]
let answer: number

beforeEach(async () => {
  received = []
  answer = 200
  receiver = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const header = String(request.headers['stripe-signature'])
      const event = new Stripe('sk_test_1').webhooks.constructEvent(Buffer.concat(chunks), header, SECRET)
      received.push({ path: request.url ?? '', event })
      response.writeHead(answer).end()
    })
  })
  await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve))
  stripe = await startStripe({ seed: 7 })
  const address = receiver.address()
  const base = `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`
  stripe.register({ urls: [`${base}/one`, `${base}/two`], secret: SECRET })
  await subscribed(stripe)
})

afterEach(async () => {
  await stripe.stop()
  await new Promise((resolve) => receiver.close(resolve))
})

const happened = () => stripe.events.map(({ id }) => id)
const arrived = () => received.map(({ event }) => event.id)
const inOrder = (ids: string[]) => ids.toSorted()

describe('gap: billing, the delivery of the Stripe stand-in', () => {
  it('holds events back until told to send them, signed as the SDK expects', async () => {
    expect(received).toEqual([])
    await stripe.deliver()
    expect(arrived()).toEqual(happened())
    expect(stripe.waiting).toEqual([])
    expect(new Set(received.map(({ path }) => path))).toEqual(new Set(['/one', '/two']))
  })

  it('duplicates', async () => {
    await stripe.deliver({ copies: [2, 4] })
    const counts = happened().map((id) => arrived().filter((other) => other === id).length)
    expect(counts.every((count) => count >= 2 && count <= 4)).toBe(true)
    expect(new Set(counts).size).toBeGreaterThan(1)
  })

  it('reorders', async () => {
    await stripe.deliver({ shuffle: true })
    expect(arrived()).not.toEqual(happened())
    expect(inOrder(arrived())).toEqual(inOrder(happened()))
  })

  it('delays', async () => {
    await stripe.deliver({ delay: 0.5 })
    const first = arrived().length
    expect([first > 0, first < happened().length, stripe.waiting.length]).toEqual([
      true,
      true,
      happened().length - first,
    ])
    await stripe.deliver()
    expect(inOrder(arrived())).toEqual(inOrder(happened()))
  })

  it('drops', async () => {
    await stripe.deliver({ drop: 0.5 })
    expect(stripe.dropped.length).toBeGreaterThan(0)
    expect(stripe.waiting).toEqual([])
    expect(inOrder([...arrived(), ...stripe.dropped.map(({ id }) => id)])).toEqual(inOrder(happened()))
  })

  it('keeps refused events for a retry', async () => {
    answer = 500
    await stripe.deliver()
    expect(stripe.waiting).toHaveLength(happened().length)
    answer = 200
    await stripe.deliver()
    expect(stripe.waiting).toEqual([])
    expect(new Set(stripe.attempts.map(({ status }) => status))).toEqual(new Set([500, 200]))
  })

  it('does the same again for the same seed', async () => {
    const again = await startStripe({ seed: 7 })
    await subscribed(again)
    await Promise.all([stripe, again].map((one) => one.deliver({ drop: 0.5 })))
    expect(again.dropped.map(({ type }) => type)).toEqual(stripe.dropped.map(({ type }) => type))
    await again.stop()
  })
})
