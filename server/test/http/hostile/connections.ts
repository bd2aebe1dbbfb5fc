import { API_KEY } from '../../harness/server.ts'

/** What goes over the wire, and the answers that may come back before the connection is closed. */
export interface HostileConnection {
  name: string
  sent: string | Buffer
  /** whether the client closes its side after that */
  hangUp: boolean
  statuses: number[]
}

const BODY = '{"query":"{ features { id } }"}'
const AUTHORIZED = `Host: x\r\nAuthorization: ${API_KEY}\r\n`

const request = (headers: string, body = '', line = 'POST /graphql HTTP/1.1') =>
  `${line}\r\n${AUTHORIZED}Connection: close\r\n${headers}\r\n${body}`
const sized = (headers = '') => request(`Content-Length: ${BODY.length}\r\n${headers}`, BODY)
const chunked = (body: string, headers = 'Transfer-Encoding: chunked\r\n') => request(headers, body)
const CHUNKS = `${BODY.length.toString(16)}\r\n${BODY}\r\n0\r\n\r\n`

/** A request that is only executed where two readers of the first one disagree on where it ends. */
const SMUGGLED_BODY = JSON.stringify({ query: 'mutation { createUser(input: {id: "smuggled"}) { id } }' })
const SMUGGLED = `POST /graphql HTTP/1.1\r\n${AUTHORIZED}Content-Length: ${SMUGGLED_BODY.length}\r\n\r\n${SMUGGLED_BODY}`

type Row = [name: string, sent: string | Buffer, ...statuses: number[]]
const rows = (hangUp: boolean, table: Row[]): HostileConnection[] =>
  table.map(([name, sent, ...statuses]) => ({ name, sent, hangUp, statuses }))

export const hostileConnections: HostileConnection[] = [
  ...rows(false, [
    ...['GET', 'HEAD', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE'].map(
      (method): Row => [method, request('', '', `${method} /graphql HTTP/1.1`), 405],
    ),
    ['CONNECT', request('', '', 'CONNECT /graphql HTTP/1.1')],
    ['an upgrade to a WebSocket', sized('Upgrade: websocket\r\nConnection: Upgrade\r\n'), 200, 400],
    ['no Host', `POST /graphql HTTP/1.1\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}`, 400],
    ['a path of 100 KB', request('', '', `POST /graphql?${'x'.repeat(100_000)} HTTP/1.1`), 431],
    ['a header of 100 KB', sized(`X-Padding: ${'x'.repeat(100_000)}\r\n`), 431],
    ['headers by the thousand', sized('X: 1\r\n'.repeat(10_000)), 431],
    ['NUL in a header', sized('X-Bad: a\u0000b\r\n'), 400],
    ['NUL in the key', request('Authorization: \u0000\r\nContent-Length: 0\r\n'), 400],
    ['two keys, of which the first counts', sized('Authorization: nonsense\r\n'), 200],
    ['two Idempotency-Keys', sized('Idempotency-Key: a\r\nIdempotency-Key: b\r\n'), 200],
    ['two lengths', sized('Content-Length: 5\r\n'), 400],
    [
      'a length and chunks',
      request(`Content-Length: 5\r\nTransfer-Encoding: chunked\r\n`, CHUNKS + SMUGGLED),
      400,
    ],
    [
      'chunks and a length',
      request(`Transfer-Encoding: chunked\r\nContent-Length: 5\r\n`, CHUNKS + SMUGGLED),
      400,
    ],
    ['chunks twice over', chunked(CHUNKS + SMUGGLED, 'Transfer-Encoding: chunked, chunked\r\n'), 200, 400],
    ['chunks by another name', chunked(CHUNKS + SMUGGLED, 'Transfer-Encoding: xchunked\r\n'), 400],
    ['chunks after a space', chunked(CHUNKS + SMUGGLED, 'Transfer-Encoding : chunked\r\n'), 400],
    [
      'chunks in a folded header',
      chunked(CHUNKS + SMUGGLED, 'X: y\r\n Transfer-Encoding: chunked\r\n'),
      200,
      400,
    ],
    ['a length that is less than nothing', request('Content-Length: -1\r\n', BODY), 400],
    ['a length with a sign', request('Content-Length: +5\r\n', BODY), 400],
    ['a length in hexadecimal', request('Content-Length: 0x1f\r\n', BODY), 400],
    ['a length past all numbers', request(`Content-Length: ${'9'.repeat(30)}\r\n`, BODY), 400],
    ['more than it said', sized() + SMUGGLED, 200, 400],
    ['a chunk of no size', chunked('zz\r\nxx\r\n0\r\n\r\n'), 400],
    ['a chunk past all numbers', chunked(`${'f'.repeat(30)}\r\n`), 400],
    ['a chunk extension of 100 KB', chunked(`5;${'x'.repeat(100_000)}\r\n`), 200, 400, 413],
    ['trailers of 100 KB', chunked(`0\r\nX: ${'x'.repeat(100_000)}\r\n\r\n`), 200, 400, 431],
    ['lines that end in LF alone', sized().replaceAll('\r\n', '\n'), 200, 400],
    ['an expectation', sized('Expect: 100-continue\r\n'), 100, 200],
    ['an unknown expectation', sized('Expect: miracles\r\n'), 417],
    ['a whole URL for a path', request('Content-Length: 0\r\n', '', 'POST http://x/graphql HTTP/1.1'), 404],
    ['a path that climbs', request('Content-Length: 0\r\n', '', 'POST /../graphql HTTP/1.1'), 404],
    ['HTTP/9.9', request('', '', 'POST /graphql HTTP/9.9'), 400, 505],
    ['HTTP/2', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', 400],
    ['TLS', Buffer.from('16030100a5010000a1030320', 'hex'), 400],
    ['noise', Buffer.alloc(10_000, 0xff), 400],
  ]),
  ...rows(true, [
    ['nothing at all', ''],
    ['half a request line', 'POST /gra', 400],
    ['half the headers', `POST /graphql HTTP/1.1\r\n${AUTHORIZED}`, 400],
    ['half a body', request(`Content-Length: ${BODY.length * 2}\r\n`, BODY), 200, 400],
    ['half a chunk', chunked(`ffff\r\n${BODY}`), 200, 400],
    ['a body that never begins', request('Content-Length: 100\r\n'), 200, 400],
  ]),
]

/** Requests sent in one piece, before the first of them is answered. */
export function pipelined(count: number): string {
  const headers = `${AUTHORIZED}Content-Length: ${BODY.length}\r\n`
  return `POST /graphql HTTP/1.1\r\n${headers}\r\n${BODY}`.repeat(count - 1) + sized()
}

/** A request whose body goes on for as long as it is taken. */
export const endless = (path: string, key: string, headers: string): string =>
  `POST ${path} HTTP/1.1\r\nHost: x\r\nAuthorization: ${key}\r\nContent-Type: application/json\r\n${headers}\r\n`
