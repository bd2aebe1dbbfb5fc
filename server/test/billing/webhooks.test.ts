import { setTimeout as delay } from 'node:timers/promises'
import { beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { signatureHeader } from '../../src/billing/signature.ts'
import { sandboxSecret } from '../../src/operations/billing/provider-of.ts'
import { rowsOf } from '../harness/database.ts'
import { startTestServer } from '../harness/server.ts'
import { shared } from '../harness/shared.ts'
import { jobsDone } from './jobs-done.ts'
import { openSandboxShop, type SandboxShop } from './sandbox-shop.ts'

// The inbox from outside: who is let in, what is written down, and that all of it is counted.

const server = shared(startTestServer)
let shop: SandboxShop
let other: SandboxShop
let sandboxKey: Buffer
beforeAll(async () => {
  const [secret] = await rowsOf<{ value: Buffer }>(
    { connectionString: server.databaseUrl },
    `select value from secret where name = 'sandbox'`,
  )
  sandboxKey = secret?.value ?? Buffer.alloc(0)
})
beforeEach(async () => {
  shop = await openSandboxShop(server)
  other = await openSandboxShop(server)
})

const seconds = () => Math.floor(Date.now() / 1000)
const secretOf = (appId: string) => sandboxSecret({ sandboxKey } as never, appId)

let events = 0
const newEvent = (more: object = {}) =>
  JSON.stringify({ id: `evt_${++events}`, type: 'something.else', data: { object: {} }, ...more })

function send(
  body: string,
  header: string | undefined,
  path = `/webhooks/sandbox/${shop.id}`,
): Promise<Response> {
  return fetch(`${server.url}${path}`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', ...(header && { 'Tollgate-Signature': header }) },
    body,
  })
}

const signed = (body: string, at = seconds(), secret = secretOf(shop.id)) =>
  signatureHeader(secret, Buffer.from(body), at)

async function counted(outcome: string, provider = 'sandbox'): Promise<number> {
  const text = await (await fetch(`${server.url}/metrics`)).text()
  const line = new RegExp(
    `^tollgate_notices_total\\{provider="${provider}",outcome="${outcome}"\\} (\\d+)$`,
    'm',
  )
  return Number(line.exec(text)?.[1] ?? 0)
}

describe('gap: billing, the inbox', () => {
  it('stores a signed notice once, however often it comes', async () => {
    const [accepted, duplicates] = [await counted('accepted'), await counted('duplicate')]
    const body = newEvent()
    expect((await send(body, signed(body))).status).toBe(200)
    const again = await Promise.all(Array.from({ length: 5 }, () => send(body, signed(body))))
    expect(again.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200])
    await jobsDone(server.databaseUrl)
    expect(await shop.notices('type state')).toEqual([{ type: 'something.else', state: 'DONE' }])
    expect(await counted('accepted')).toBe(accepted + 1)
    expect(await counted('duplicate')).toBe(duplicates + 5)
  })

  const REFUSED: [string, string, (body: string) => string | undefined][] = [
    ['no signature', 'signature', () => undefined],
    ['a signature that is none', 'signature', () => 'v1=abc'],
    ['the signature of another body', 'signature', () => signed('{}')],
    ['a guessed secret', 'signature', (body) => signed(body, seconds(), 'whsec_guessed')],
    ['the secret of another app', 'signature', (body) => signed(body, seconds(), secretOf(other.id))],
    [
      'a signature under another time',
      'signature',
      (body) => signed(body).replace(/t=\d+/, `t=${seconds() - 1}`),
    ],
    ['a signature that is 301 s old', 'stale', (body) => signed(body, seconds() - 301)],
    ['a signature from 310 s ahead', 'stale', (body) => signed(body, seconds() + 310)],
  ]
  it.each(REFUSED)('refuses %s and counts it as %s', async (_, outcome, header) => {
    const before = await counted(outcome)
    const body = newEvent()
    const answer = await send(body, header(body))
    expect(answer.status).toBe(400)
    expect(await answer.text()).toMatch(outcome === 'stale' ? /expired/ : /signing secret/)
    expect(await counted(outcome)).toBe(before + 1)
    expect(await shop.notices()).toEqual([])
  })

  it.each([
    '',
    'no JSON',
    '[]',
    '{"id":"evt"}',
    '{"id":7,"type":"x"}',
    '{"id":"evt\\u0000","type":"x"}',
    '{"id":"evt","type":"x\\u0000"}',
    '{"id":"evt","type":"checkout.session.completed","data":{"object":{"id":"cs\\u0000"}}}',
    '{"id":"evt","type":"customer.subscription.updated","data":{"object":{"id":"sub\\u0000"}}}',
    '{"id":"evt","type":"invoice.paid","data":{"object":{"subscription":"sub\\u0000"}}}',
    '{"id":"evt","type":"customer.updated","data":{"object":{"id":"cus\\u0000"}}}',
    '{"id":"evt","type":"x","data":{"object":{"id":"x\\u0000"}}}',
    '{"id":"evt","type":"x","data":{"object":{"customer":"cus\\u0000"}}}',
    '{"id":"evt","type":"x","data":{"object":{"customer":{"id":"cus\\u0000"}}}}',
    '{"id":"evt","type":"x","data":{"object":{"client_reference_id":"ses\\u0000"}}}',
    '{"id":"evt","type":"charge.refunded","data":{"object":{"subscription":"sub\\u0000"}}}',
  ])('refuses the body %j', async (body) => {
    const before = await counted('malformed')
    expect((await send(body, signed(body))).status).toBe(400)
    expect(await counted('malformed')).toBe(before + 1)
    expect(await shop.notices()).toEqual([])
  })

  it('tells nobody which apps there are', async () => {
    const body = newEvent()
    const [unknown, forged] = [
      await send(body, signed(body), '/webhooks/sandbox/nowhere'),
      await send(body, 'forged'),
    ]
    expect([unknown.status, await unknown.text()]).toEqual([forged.status, await forged.text()])
    expect(await counted('unknown app')).toBe(1)
  })

  it('is for POST and for providers that there are', async () => {
    const body = newEvent()
    expect((await send(body, signed(body), `/webhooks/paypal/${shop.id}`)).status).toBe(404)
    expect((await send(body, signed(body), `/webhooks/sandbox/${shop.id}/more`)).status).toBe(404)
    const got = await fetch(`${server.url}/webhooks/sandbox/${shop.id}`)
    expect([got.status, got.headers.get('allow')]).toEqual([405, 'POST'])
  })

  it('believes nothing in a notice except what it is about', async () => {
    await shop.buy('plan')
    const [{ ref }] = (await rowsOf<{ ref: string }>(
      { connectionString: server.databaseUrl },
      'select ref from provider_subscription where app_id = $1',
      [shop.id],
    )) as [{ ref: string }]
    const body = newEvent({
      type: 'customer.subscription.deleted',
      data: { object: { id: ref, object: 'subscription', status: 'canceled' } },
    })
    expect((await send(body, signed(body))).status).toBe(200)
    await jobsDone(server.databaseUrl)
    expect(await shop.subscriptions()).toEqual(['plan ACTIVE'])
  })

  it('shows what it holds by state and type, newest first, page by page', async () => {
    for (let i = 0; i < 5; i++) {
      const body = newEvent({ type: i % 2 === 0 ? 'even' : 'odd' })
      await send(body, signed(body))
    }
    await jobsDone(server.databaseUrl)
    const list = async (args: string) => {
      const { notices } = await shop.dashboard.data(`{ notices(appId: "${shop.id}", ${args}) { id type } }`)
      return notices
    }
    const all = await list('first: 50')
    expect(all.map(({ type }: { type: string }) => type)).toEqual(['even', 'odd', 'even', 'odd', 'even'])
    expect(await list('type: "odd"')).toEqual([all[1], all[3]])
    expect(await list('state: FAILED')).toEqual([])
    expect(await list('state: DONE, provider: "stripe"')).toEqual([])
    expect(await list('first: 2')).toEqual(all.slice(0, 2))
    expect(await list(`first: 2, after: "${all[1].id}"`)).toEqual(all.slice(2, 4))
    const noticeCounts = await shop.dashboard.call('noticeCounts { pending done failed }')
    expect(noticeCounts).toEqual({ pending: 0, done: 5, failed: 0 })
    const foreign = await shop.dashboard.error(`{ notice(appId: "${other.id}", id: "${all[0].id}") { id } }`)
    expect(foreign.extensions.code).toBe('NOTICE_NOT_FOUND')
  })

  it('takes over the jobs of a dead process', async () => {
    await rowsOf(
      { connectionString: server.databaseUrl },
      `begin;
       insert into notice (app_id, provider, event_id, type, payload)
         values ('${shop.id}', 'sandbox', 'evt_left', 'left', '{}');
       select graphile_worker.add_job('handle-notice', json_build_object('appId', app_id, 'seq', seq), job_key => 'left')
         from notice where event_id = 'evt_left';
       update graphile_worker._private_jobs set locked_by = 'worker-dead', locked_at = now() - interval '11 minutes'
         where key = 'left';
       commit`,
    )
    expect(await shop.notices('state')).toEqual([{ state: 'PENDING' }])
    await rowsOf(
      { connectionString: server.databaseUrl },
      `select graphile_worker.add_job('turn-sandboxes', '{}')`,
    )
    for (let [left] = await shop.notices(); left?.state !== 'DONE'; [left] = await shop.notices()) {
      await delay(20)
    }
    expect(await shop.notices('eventId state')).toEqual([{ eventId: 'evt_left', state: 'DONE' }])
  })
})
