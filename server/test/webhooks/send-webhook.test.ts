import { once } from 'node:events'
import type { AddressInfo, Socket } from 'node:net'
import { createServer } from 'node:net'
import { describe, expect, it } from 'vitest'
import {
  MAX_LOGGED_RESPONSE_CHARACTERS,
  MAX_WEBHOOK_RESPONSE_BYTES,
  WEBHOOK_TIMEOUT_MS,
} from '../../src/domain/limits.ts'
import type { Resolve } from '../../src/webhooks/resolve.ts'
import { WebhookSender } from '../../src/webhooks/send-webhook.ts'
import { monotonic } from '../harness/clocks.ts'
import { startReceiver } from '../harness/receiver.ts'
import { selfSigned } from '../harness/self-signed.ts'
import { shared } from '../harness/shared.ts'

type Options = Partial<ConstructorParameters<typeof WebhookSender>[0]>

async function send(url: string, options: Options = {}, headers: Record<string, string> = {}) {
  const sender = new WebhookSender({ allowPrivate: true, monotonic, ...options })
  try {
    return await sender.send({ url, headers, body: '{"id":"evt_1"}' })
  } finally {
    sender.close()
  }
}

const resolvesTo =
  (...addresses: string[]): Resolve =>
  async () =>
    addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }))

const receiver = shared(startReceiver)

describe('gap: SSRF: a webhook is not sent', () => {
  it.each([
    ['https://127.0.0.1/', 'refused to connect to 127.0.0.1 (loopback address)'],
    ['https://[::1]/', 'refused to connect to ::1 (loopback address)'],
    [
      'https://169.254.169.254/latest/meta-data/',
      'refused to connect to 169.254.169.254 (link-local address)',
    ],
    ['https://10.1.2.3/', 'refused to connect to 10.1.2.3 (private address)'],
    ['https://172.16.0.1/', 'refused to connect to 172.16.0.1 (private address)'],
    ['https://192.168.0.1/', 'refused to connect to 192.168.0.1 (private address)'],
    ['https://100.64.0.1/', 'refused to connect to 100.64.0.1 (shared (CGNAT) address)'],
    ['https://[::ffff:127.0.0.1]/', 'refused to connect to ::ffff:7f00:1 (IPv4-mapped address)'],
    ['https://[64:ff9b::7f00:1]/', 'refused to connect to 64:ff9b::7f00:1 (NAT64 address)'],
    ['https://[fd00::1]/', 'refused to connect to fd00::1 (private address)'],
    ['https://[fe80::1]/', 'refused to connect to fe80::1 (link-local address)'],
    ['https://224.0.0.1/', 'refused to connect to 224.0.0.1 (multicast address)'],
    ['https://2130706433/', 'refused to connect to 127.0.0.1 (loopback address)'],
    ['https://0x7f.1/', 'refused to connect to 127.0.0.1 (loopback address)'],
    ['https://0177.1/', 'refused to connect to 127.0.0.1 (loopback address)'],
    ['https://0/', 'refused to connect to 0.0.0.0 (reserved address)'],
  ])('to %s', async (url, error) => {
    const answer = await send(url, { allowPrivate: false })
    expect(answer).toMatchObject({ status: null, error, body: '' })
  })

  it('without TLS', async () => {
    expect(await send(receiver.url, { allowPrivate: false })).toMatchObject({ error: 'the URL is not https' })
    expect(receiver.received).toEqual([])
  })

  it.each([
    ['127.0.0.1'],
    ['8.8.8.8', '127.0.0.1'],
    ['::1'],
    ['2606:4700::1111', '::ffff:10.0.0.1'],
    ['0.0.0.0'],
  ])('to a name that resolves to %s', async (...addresses) => {
    const answer = await send('https://hooks.example/', {
      allowPrivate: false,
      resolve: resolvesTo(...addresses),
    })
    expect(answer?.status).toBeNull()
    expect(answer?.error).toMatch(/^refused to connect to hooks.example, which resolves to .+ address\)$/)
  })

  it('to a name that resolves to another address once it was checked', async () => {
    const { key, cert } = selfSigned('hooks.example')
    const inside = await startReceiver(() => 200, { key, cert })
    const seen: string[] = []
    // What was public when the endpoint was created, and at the first attempt, is not at the next.
    const answers = ['203.0.114.1', '127.0.0.1']
    const resolve: Resolve = async () => {
      const address = answers[seen.length] ?? '127.0.0.1'
      seen.push(address)
      return [{ address, family: 4 }]
    }
    const sender = new WebhookSender({ allowPrivate: false, monotonic, resolve, timeoutMs: 500, ca: cert })
    const request = { url: `https://hooks.example:${inside.port}/`, headers: {}, body: '{}' }
    expect((await sender.send(request))?.status).toBeNull()
    expect(await sender.send(request)).toMatchObject({
      status: null,
      error: 'refused to connect to hooks.example, which resolves to 127.0.0.1 (loopback address)',
    })
    // Every connection resolves the name once, and goes to what was checked.
    expect(seen).toEqual(answers)
    expect(inside.connections()).toBe(0)
    sender.close()
    await inside.stop()
  })

  it('to where a redirect leads', async () => {
    const other = await startReceiver()
    for (const status of [301, 302, 303, 307, 308]) {
      receiver.answer = (_, response) => {
        response.writeHead(status, { Location: other.url }).end()
        return undefined
      }
      expect(await send(receiver.url)).toMatchObject({ status, error: null })
    }
    expect(other.received).toEqual([])
    await other.stop()
  })

  it('through a proxy of the environment', async () => {
    const proxy = await startReceiver()
    const before = { ...process.env }
    Object.assign(process.env, { HTTP_PROXY: proxy.url, http_proxy: proxy.url, NODE_USE_ENV_PROXY: '1' })
    receiver.answer = () => 204
    expect(await send(receiver.url)).toMatchObject({ status: 204 })
    for (const name of ['HTTP_PROXY', 'http_proxy', 'NODE_USE_ENV_PROXY']) {
      if (before[name] === undefined) delete process.env[name]
      else process.env[name] = before[name]
    }
    expect(proxy.connections()).toBe(0)
    await proxy.stop()
  })
})

describe('gap: sending a webhook', () => {
  it('is one POST with the given headers and body', async () => {
    receiver.answer = () => 202
    receiver.received.length = 0
    const answer = await send(receiver.url, {}, { 'webhook-id': 'evt_1', 'Content-Type': 'application/json' })
    expect(answer).toMatchObject({ status: 202, error: null, body: 'answered 202' })
    expect(receiver.received).toMatchObject([
      { method: 'POST', path: '/hooks', body: '{"id":"evt_1"}', headers: { 'webhook-id': 'evt_1' } },
    ])
  })

  it('goes by TLS to the host of the certificate', async () => {
    const { key, cert } = selfSigned('hooks.example')
    const secure = await startReceiver(() => 200, { key, cert })
    const url = `https://hooks.example:${secure.port}/`
    const resolve = resolvesTo('127.0.0.1')
    expect(await send(url, { resolve, ca: cert })).toMatchObject({ status: 200 })
    expect((await send(url, { resolve }))?.error).toMatch(/self-signed certificate/)
    const other = `https://other.example:${secure.port}/`
    expect((await send(other, { resolve, ca: cert }))?.error).toMatch(/does not match certificate/)
    expect(secure.received).toHaveLength(1)
    await secure.stop()
  })

  it('keeps connections for the next one, and copes with one that was closed meanwhile', async () => {
    const closing = await startReceiver()
    const sender = new WebhookSender({ allowPrivate: true, monotonic })
    const request = { url: closing.url, headers: {}, body: '{}' }
    for (let i = 0; i < 3; i++) expect(await sender.send(request)).toMatchObject({ status: 200 })
    expect(closing.connections()).toBe(1)
    // The receiver closes it in the moment in which the next request arrives.
    let cut = true
    closing.answer = ({ method }, response) => {
      if (!cut) return method === 'POST' ? 200 : 405
      cut = false
      response.destroy()
      return undefined
    }
    expect(await sender.send(request)).toMatchObject({ status: 200 })
    expect(closing.connections()).toBe(2)
    // The first request of a connection is not repeated: the receiver may have handled it.
    sender.close()
    cut = true
    expect(await send(closing.url)).toMatchObject({
      status: null,
      error: 'the connection was closed without a response',
    })
    await closing.stop()
  })

  it('ends in time, whatever the receiver holds back', async () => {
    expect(WEBHOOK_TIMEOUT_MS).toBe(15_000)
    const late = { status: null, error: 'no response within 0.2 s' }
    // Nothing at all.
    receiver.answer = () => undefined
    expect(await send(receiver.url, { timeoutMs: 200 })).toMatchObject(late)
    // Headers, byte by byte.
    const sockets: Socket[] = []
    const dripping = createServer((socket) => {
      sockets.push(socket)
      socket.on('error', () => {})
      socket.write('HTTP/1.1 200 OK\r\n')
      const timer = setInterval(() => socket.write('x: y\r\n'), 20)
      socket.on('close', () => clearInterval(timer))
    }).listen(0, '127.0.0.1')
    await once(dripping, 'listening')
    const { port } = dripping.address() as AddressInfo
    expect(await send(`http://127.0.0.1:${port}/`, { timeoutMs: 200 })).toMatchObject(late)
    for (const socket of sockets) socket.destroy()
    dripping.close()
    // A name that never resolves.
    const resolve: Resolve = () => new Promise(() => {})
    expect(await send('https://hooks.example/', { timeoutMs: 200, resolve })).toMatchObject(late)
    // A TLS handshake that never ends.
    const silent = createServer((socket) => sockets.push(socket)).listen(0, '127.0.0.1')
    await once(silent, 'listening')
    const handshake = `https://127.0.0.1:${(silent.address() as AddressInfo).port}/`
    expect(await send(handshake, { timeoutMs: 200 })).toMatchObject(late)
    for (const socket of sockets) socket.destroy()
    silent.close()
  })

  it('counts a status whose body never ends, and reads only the beginning of a long one', async () => {
    receiver.answer = (_, response) => {
      response.writeHead(200)
      response.write('the beginning')
      return undefined
    }
    expect(await send(receiver.url, { timeoutMs: 300 })).toMatchObject({ status: 200, body: 'the beginning' })
    let sent = 0
    receiver.answer = (_, response) => {
      const more = () => {
        if (response.destroyed) return
        sent += MAX_WEBHOOK_RESPONSE_BYTES
        response.write('é\u0000'.repeat(MAX_WEBHOOK_RESPONSE_BYTES / 3), () => setImmediate(more))
      }
      more()
      return undefined
    }
    const answer = await send(receiver.url)
    expect(answer).toMatchObject({ status: 200 })
    expect(answer?.body).toMatch(/^é+$/)
    expect(answer?.body.length).toBeLessThanOrEqual(MAX_LOGGED_RESPONSE_CHARACTERS)
    expect(sent).toBeLessThan(100 * MAX_WEBHOOK_RESPONSE_BYTES)
  })

  it.each([
    ['http://127.0.0.1:1/', {}, 'connection refused'],
    [
      'https://nowhere.example/',
      { resolve: () => Promise.reject(Object.assign(new Error(), { code: 'ENOTFOUND' })) },
      'the host name does not exist',
    ],
    ['https://nowhere.example/', { resolve: async () => [] }, 'no address for nowhere.example'],
  ])('to %s says why it failed', async (url, options, error) => {
    expect(await send(url, options)).toMatchObject({ status: null, error })
  })

  it('says when the answer is not HTTP', async () => {
    const other = createServer((socket) => socket.end('SSH-2.0-OpenSSH_9.6\r\n')).listen(0, '127.0.0.1')
    await once(other, 'listening')
    const answer = await send(`http://127.0.0.1:${(other.address() as AddressInfo).port}/`)
    expect(answer?.error).toMatch(/^the response is not HTTP/)
    other.close()
  })

  it('does not count when the service stops meanwhile', async () => {
    receiver.answer = () => undefined
    const sender = new WebhookSender({ allowPrivate: true, monotonic })
    const sent = sender.send({ url: receiver.url, headers: {}, body: '{}' })
    setTimeout(() => sender.close(), 50)
    expect(await sent).toBeNull()
  })
})
