import type { IncomingHttpHeaders } from 'node:http'
import { type Span, tracing } from '../telemetry/tracing.ts'

/** Handles a request as a span, in the caller's trace if its headers name one. */
export function traceRequest<T>(
  method: string | undefined,
  route: string,
  headers: IncomingHttpHeaders,
  handle: (span: Span | null) => T,
): T {
  if (!tracing) return handle(null)
  const attributes = { 'http.request.method': method ?? '', 'http.route': route }
  return tracing.span(`${method} ${route}`, { kind: 'server', attributes, from: headers }, handle)
}
