import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import { PATIENCE_MS } from './patience.ts'

/** A span as OTLP's JSON has it, with its attributes as an object. */
export interface ReceivedSpan {
  traceId: string
  spanId: string
  parentSpanId?: string
  name: string
  kind: number
  status: { code?: number }
  links: { traceId: string; spanId: string }[]
  attributes: Record<string, unknown>
  resource: Record<string, unknown>
}

export const SERVER = 2
export const CLIENT = 3
export const FAILED = 2

interface Attribute {
  key: string
  value: Record<string, unknown>
}

const valuesOf = (attributes: readonly Attribute[] = []) =>
  Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value)[0]]))

/** A collector that takes OTLP over HTTP, and remembers the spans that arrive as JSON. */
export async function startTraceReceiver() {
  const spans: ReceivedSpan[] = []
  const requests: { url: string | undefined; headers: IncomingHttpHeaders }[] = []
  const server = createServer(async (request, response) => {
    const body = await text(request)
    requests.push({ url: request.url, headers: request.headers })
    if (request.headers['content-type'] === 'application/json') spans.push(...spansIn(JSON.parse(body)))
    response.writeHead(200, { 'Content-Type': 'application/json' }).end('{}')
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    spans,
    requests,
    /** Waits until so many spans of the trace have arrived. */
    async trace(traceId: string, count: number): Promise<ReceivedSpan[]> {
      const found = () => spans.filter((span) => span.traceId === traceId)
      const end = performance.now() + PATIENCE_MS
      while (found().length < count && performance.now() < end) await sleep(20)
      return found()
    },
    stop: () => new Promise<void>((resolve) => void server.close(() => resolve())),
  }
}

interface Exported {
  resourceSpans: {
    resource: { attributes: Attribute[] }
    scopeSpans: {
      spans: (Omit<ReceivedSpan, 'attributes' | 'resource'> & { attributes?: Attribute[] })[]
    }[]
  }[]
}

function spansIn({ resourceSpans }: Exported): ReceivedSpan[] {
  return resourceSpans.flatMap(({ resource, scopeSpans }) =>
    scopeSpans.flatMap((scope) =>
      scope.spans.map((span) => ({
        ...span,
        links: span.links ?? [],
        attributes: valuesOf(span.attributes),
        resource: valuesOf(resource.attributes),
      })),
    ),
  )
}
