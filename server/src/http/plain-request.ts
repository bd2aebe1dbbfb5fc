import type { IncomingHttpHeaders } from 'node:http'

/** The head of a POST in the form that nearly every client sends. */
export interface PlainHead {
  /** including the empty line at its end */
  bytes: Buffer
  path: string
  headers: IncomingHttpHeaders
  bodyBytes: number
}

/** Enough for a client's key and cookies; larger heads take the slow path. */
const MAX_PLAIN_HEAD_BYTES = 4 * 1024

const FORM = /^POST (\/[a-z0-9/-]*) HTTP\/1\.1\r\n((?:[A-Za-z0-9-]+:[ -~]*\r\n)+)\r\n$/

/** Headers that change how the body or the following data must be read, or that node:http normalises. */
const NOT_PLAIN = [
  'transfer-encoding',
  'content-encoding',
  'expect',
  'upgrade',
  'trailer',
  'te',
  'proxy-connection',
  'set-cookie',
]

/**
 * The head at the start of `chunk`, or null if it needs a full parser. What is accepted here means the same to
 * node:http.
 */
export function readPlainHead(chunk: Buffer): PlainHead | null {
  const end = chunk.indexOf('\r\n\r\n') + 4
  if (end < 4 || end > MAX_PLAIN_HEAD_BYTES) return null
  const [, path, lines] = FORM.exec(chunk.toString('latin1', 0, end)) ?? []
  if (path === undefined || lines === undefined) return null
  const headers = readHeaders(lines)
  if (!headers || NOT_PLAIN.some((name) => Object.hasOwn(headers, name))) return null
  const { host, connection = 'keep-alive', 'content-length': length = '' } = headers
  if (host === undefined || connection.toLowerCase() !== 'keep-alive' || !/^\d{1,6}$/.test(length))
    return null
  // A copy: the chunk is released with its request.
  return { bytes: Buffer.from(chunk.subarray(0, end)), path, headers, bodyBytes: Number(length) }
}

/** Null if a header is repeated. */
function readHeaders(lines: string): IncomingHttpHeaders | null {
  const headers: IncomingHttpHeaders = {}
  for (const line of lines.trimEnd().split('\r\n')) {
    const colon = line.indexOf(':')
    const name = line.slice(0, colon).toLowerCase()
    if (Object.hasOwn(headers, name)) return null
    headers[name] = line.slice(colon + 1).trim()
  }
  return headers
}

export function startsWith(chunk: Buffer, { bytes }: PlainHead): boolean {
  const { length } = bytes
  return chunk.length >= length && chunk.compare(bytes, 0, length, 0, length) === 0
}
