import { quote, StartError } from '../domain/errors.ts'
import { parseUrl } from '../domain/url.ts'
import type { TelemetrySettings } from '../telemetry/tracing.ts'

const PROTOCOLS = ['http/protobuf', 'http/json'] as const

/** OpenTelemetry's own variables; null: none of them turns tracing on. OpenTelemetry reads the others itself. */
export function readTelemetry(set: (name: string) => string | null): TelemetrySettings | null {
  if (set('OTEL_SDK_DISABLED')?.toLowerCase() === 'true') return null
  const exporter = set('OTEL_TRACES_EXPORTER')
  const endpoint = firstOf(set, 'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT', 'OTEL_EXPORTER_OTLP_ENDPOINT')
  if (exporter === 'none' || (exporter === null && endpoint === null)) return null
  if (exporter !== null && exporter !== 'otlp')
    throw new StartError(`OTEL_TRACES_EXPORTER must be otlp or none; it is ${quote(exporter)}.`)
  const url = endpoint && parseUrl(endpoint.value)
  if (endpoint && !(url && /^https?:$/.test(url.protocol)))
    throw new StartError(
      `${endpoint.name} must be an http or https URL, such as http://localhost:4318; it is ${quote(endpoint.value)}.`,
    )
  const chosen = firstOf(set, 'OTEL_EXPORTER_OTLP_TRACES_PROTOCOL', 'OTEL_EXPORTER_OTLP_PROTOCOL')
  const protocol = PROTOCOLS.find((known) => known === (chosen?.value ?? 'http/protobuf'))
  if (!protocol)
    throw new StartError(
      `${chosen?.name} must be ${PROTOCOLS.join(' or ')}; it is ${quote(chosen?.value ?? '')}.`,
    )
  return { protocol }
}

function firstOf(
  set: (name: string) => string | null,
  ...names: string[]
): { name: string; value: string } | null {
  for (const name of names) {
    const value = set(name)
    if (value !== null) return { name, value }
  }
  return null
}
