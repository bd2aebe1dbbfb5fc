export interface TelemetrySettings {
  /** OTLP over HTTP; the address and everything else is read from OTEL_… variables by OpenTelemetry itself */
  protocol: 'http/protobuf' | 'http/json'
}

/** Traces of requests. There are none, and OpenTelemetry's SDK is not loaded, unless an operator sets OTEL_… variables. */
export interface Tracing {
  /** Runs work in a span of its own: a part of the current one or, if there is none, the start of a trace. */
  span<T>(name: string, options: SpanOptions, work: (span: Span) => T): T
  /** Runs a statement for several calls. Its span is part of the first call's trace, and linked to the others. */
  batch<T>(name: string, calls: readonly (SpanRef | null)[], work: () => T): T
  /** The current span, for a batch that runs later. */
  current(): SpanRef | null
  /** Headers for a request to another service, which make its spans part of the current trace. */
  headers(): Record<string, string>
  /** For a log line; null: outside any trace. */
  ids(): { traceId: string; spanId: string } | null
  /** Sends the spans that have not been sent yet. */
  close(): Promise<void>
}

interface SpanOptions {
  kind?: 'server' | 'client'
  attributes?: Attributes
  /** headers of the request, which may name the caller's trace */
  from?: Readonly<Record<string, string | string[] | undefined>>
}

export type Attributes = Record<string, string | number>

export interface Span {
  readonly traceId: string
  set(attributes: Attributes): void
  /** Marks it as failed. */
  fail(reason: string): void
}

/** A span to refer to later. Its content belongs to OpenTelemetry. */
export type SpanRef = object

/** One per process, like its log. Null: tracing is off. */
export let tracing: Tracing | null = null

export function installTracing(next: Tracing | null): void {
  tracing = next
}

/** Headers that pass the current trace on, for every outgoing request. */
export const traceHeaders = (): Record<string, string> => tracing?.headers() ?? {}
