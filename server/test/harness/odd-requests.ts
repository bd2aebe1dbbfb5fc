import fc from 'fast-check'

const HEADER = fc.oneof(
  fc.constantFrom(
    'Host: x',
    'host: y',
    'Authorization: key',
    'Content-Type: application/json',
    'Cookie: a=b; c=d',
  ),
  fc.constantFrom(
    'Connection: keep-alive',
    'Connection: Keep-Alive',
    'Connection: close',
    'Connection: Upgrade',
    'Connection: keep-alive, x',
    'Proxy-Connection: close',
    'Proxy-Connection: keep-alive',
    'Keep-Alive: timeout=1',
  ),
  fc.constantFrom(
    'Transfer-Encoding: chunked',
    'Content-Length: 3',
    'Content-Length: 03',
    'Content-Length: +3',
  ),
  fc.constantFrom(
    'Expect: 100-continue',
    'Upgrade: websocket',
    'Content-Encoding: gzip',
    'TE: trailers',
    'Trailer: x',
    'HTTP2-Settings: x',
    'Set-Cookie: a=b',
  ),
  fc.constantFrom(
    'X :a',
    'X:',
    'X:a',
    'X:  a b  ',
    'X:\ta',
    'X: \u00e9',
    'X: a\u0000b',
    ' folded',
    'X',
    ': x',
    'X: a\nY: b',
  ),
  fc.constantFrom('__proto__: x', 'constructor: x', 'toString: y', 'x_y: z', 'X-Forwarded-For: 1.2.3.4'),
)
/** The bytes of a request that is plain, or nearly so. */
export const ODD_REQUEST = fc
  .record({
    line: fc.oneof(
      { weight: 6, arbitrary: fc.constant('POST /graphql HTTP/1.1') },
      fc.constantFrom(
        'POST /graphql HTTP/1.0',
        'GET /graphql HTTP/1.1',
        'POST  /graphql HTTP/1.1',
        'post /graphql HTTP/1.1',
      ),
      fc.constantFrom(
        'POST //graphql HTTP/1.1',
        'POST /graphql?a HTTP/1.1',
        'POST http://x/graphql HTTP/1.1',
      ),
    ),
    headers: fc.array(HEADER, { maxLength: 4 }),
    body: fc.constantFrom('', 'abc', '{}', '\u00e9', 'x'.repeat(2_000)),
    lengthOff: fc.constantFrom(0, 0, 0, 0, 1, -1),
    ending: fc.constantFrom('\r\n', '\r\n', '\r\n', '\r\n', '\n'),
  })
  .map(({ line, headers, body, lengthOff, ending }) => {
    const bytes = Buffer.byteLength(body) + lengthOff
    const head = [line, 'Host: x', ...headers, `Content-Length: ${bytes}`, '', ''].join(ending)
    return Buffer.concat([Buffer.from(head, 'latin1'), Buffer.from(body)])
  })
