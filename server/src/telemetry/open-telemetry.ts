import { AsyncLocalStorage } from 'node:async_hooks'
import { randomUUID } from 'node:crypto'
import {
  type Context,
  DiagLogLevel,
  diag,
  type Span as OtelSpan,
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  type TextMapGetter,
  type Tracer,
  trace,
} from '@opentelemetry/api'
import { W3CTraceContextPropagator } from '@opentelemetry/core'
import { OTLPTraceExporter as JsonExporter } from '@opentelemetry/exporter-trace-otlp-http'
import { OTLPTraceExporter as ProtobufExporter } from '@opentelemetry/exporter-trace-otlp-proto'
import { detectResources, envDetector, resourceFromAttributes } from '@opentelemetry/resources'
import { BasicTracerProvider, BatchSpanProcessor } from '@opentelemetry/sdk-trace-base'
import type { Attributes, Span, SpanRef, TelemetrySettings, Tracing } from './tracing.ts'

// Bundled separately: it must not import code of the service, which would then exist twice.

const KINDS = { server: SpanKind.SERVER, client: SpanKind.CLIENT }

/** Starts the SDK. It reads its variables itself: exporter, sampler, queue, resource. */
export default function openTelemetry(
  protocol: TelemetrySettings['protocol'],
  warn: (message: string) => void,
): Tracing {
  const say = (message: string) => warn(`OpenTelemetry: ${message}`)
  const ignore = () => {}
  diag.setLogger(
    { error: say, warn: say, info: ignore, debug: ignore, verbose: ignore },
    { logLevel: DiagLogLevel.WARN, suppressOverrideMessage: true },
  )
  const exporter = protocol === 'http/json' ? new JsonExporter() : new ProtobufExporter()
  const named = resourceFromAttributes({
    'service.name': 'tollgate',
    'service.instance.id': randomUUID(),
  })
  const provider = new BasicTracerProvider({
    resource: named.merge(detectResources({ detectors: [envDetector] })),
    spanProcessors: [new BatchSpanProcessor(exporter)],
  })
  const tracer = provider.getTracer('tollgate')
  const propagator = new W3CTraceContextPropagator()
  const contexts = new AsyncLocalStorage<Context>()

  function run<T>(span: OtelSpan, parent: Context, work: (span: Span) => T): T {
    return contexts.run(trace.setSpan(parent, span), () => ended(span, () => work(new OpenSpan(span))))
  }

  return {
    span(name, { kind, attributes = {}, from }, work) {
      const parent = from
        ? propagator.extract(ROOT_CONTEXT, from, HEADERS)
        : (contexts.getStore() ?? ROOT_CONTEXT)
      return run(started(tracer, name, parent, attributes, kind && KINDS[kind]), parent, work)
    },
    batch(name, calls, work) {
      const [parent = ROOT_CONTEXT, ...others] = calls.filter((call) => call !== null) as Context[]
      const attributes = { 'db.system.name': 'postgresql', 'db.operation.batch.size': calls.length }
      const span = started(tracer, name, parent, attributes, SpanKind.CLIENT)
      if (span.isRecording())
        for (const other of others) {
          const context = trace.getSpanContext(other)
          if (context) span.addLink({ context })
        }
      return run(span, parent, work)
    },
    current: () => (contexts.getStore() as SpanRef | undefined) ?? null,
    headers() {
      const headers: Record<string, string> = {}
      propagator.inject(contexts.getStore() ?? ROOT_CONTEXT, headers, {
        set: (into, name, value) => {
          into[name] = value
        },
      })
      return headers
    },
    ids() {
      const context = contexts.getStore()
      const found = context && trace.getSpanContext(context)
      return found ? { traceId: found.traceId, spanId: found.spanId } : null
    },
    close: () => provider.shutdown(),
  }
}

const started = (
  tracer: Tracer,
  name: string,
  parent: Context,
  attributes: Attributes,
  kind: SpanKind = SpanKind.INTERNAL,
): OtelSpan => tracer.startSpan(name, { kind, attributes }, parent)

const HEADERS: TextMapGetter<Readonly<Record<string, string | string[] | undefined>>> = {
  keys: (headers) => Object.keys(headers),
  get: (headers, name) => headers[name],
}

class OpenSpan implements Span {
  readonly #span: OtelSpan

  constructor(span: OtelSpan) {
    this.#span = span
  }

  get traceId(): string {
    return this.#span.spanContext().traceId
  }

  set(attributes: Attributes): void {
    this.#span.setAttributes(attributes)
  }

  fail(reason: string): void {
    this.#span.setStatus({ code: SpanStatusCode.ERROR, message: reason })
  }
}

/** Ends the span with the work, at once or when its promise settles. */
function ended<T>(span: OtelSpan, work: () => T): T {
  let result: T
  try {
    result = work()
  } catch (error) {
    endFailed(span, error)
    throw error
  }
  if (!(result instanceof Promise)) {
    span.end()
    return result
  }
  return result.then(
    (value) => {
      span.end()
      return value
    },
    (error) => {
      endFailed(span, error)
      throw error
    },
  ) as T
}

/** An error that is the caller's own is an outcome; the span has not failed. */
function endFailed(span: OtelSpan, error: unknown): void {
  const { code, status } = (error ?? {}) as { code?: unknown; status?: unknown }
  const isCallers = typeof status === 'number' && status < 500
  span.setAttribute('error.type', typeof code === 'string' ? code : 'INTERNAL_SERVER_ERROR')
  if (!isCallers) span.setStatus({ code: SpanStatusCode.ERROR, message: String(error) })
  span.end()
}
