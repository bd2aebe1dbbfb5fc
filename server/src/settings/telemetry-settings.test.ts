import { describe, expect, it } from 'vitest'
import { readTelemetry } from './telemetry-settings.ts'

const read = (env: Record<string, string>) => readTelemetry((name) => env[name] ?? null)

const AT = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://localhost:4318' }

describe('OpenTelemetry', () => {
  it.each<Record<string, string>>([
    {},
    { OTEL_SERVICE_NAME: 'billing', OTEL_RESOURCE_ATTRIBUTES: 'a=b' },
    { OTEL_TRACES_EXPORTER: 'none' },
    { ...AT, OTEL_TRACES_EXPORTER: 'none' },
    { ...AT, OTEL_SDK_DISABLED: 'True' },
  ])('is off with %o', (env) => {
    expect(read(env)).toBeNull()
  })

  it.each<[Record<string, string>, string]>([
    [AT, 'http/protobuf'],
    [{ OTEL_TRACES_EXPORTER: 'otlp' }, 'http/protobuf'],
    [{ OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'https://collector/v1/traces' }, 'http/protobuf'],
    [{ ...AT, OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json' }, 'http/json'],
    [
      { ...AT, OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc', OTEL_EXPORTER_OTLP_TRACES_PROTOCOL: 'http/json' },
      'http/json',
    ],
  ])('is on with %o', (env, protocol) => {
    expect(read(env)).toEqual({ protocol })
  })

  it.each<[Record<string, string>, string]>([
    [{ OTEL_TRACES_EXPORTER: 'zipkin' }, 'OTEL_TRACES_EXPORTER must be otlp or none; it is "zipkin".'],
    [
      { OTEL_EXPORTER_OTLP_ENDPOINT: 'localhost:4317' },
      'OTEL_EXPORTER_OTLP_ENDPOINT must be an http or https URL, such as http://localhost:4318; it is "localhost:4317".',
    ],
    [
      { ...AT, OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc' },
      'OTEL_EXPORTER_OTLP_PROTOCOL must be http/protobuf or http/json; it is "grpc".',
    ],
  ])('is refused in one line with %o', (env, message) => {
    expect(() => read(env)).toThrow(message)
  })
})
