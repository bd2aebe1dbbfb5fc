import { installTracing, type TelemetrySettings } from './tracing.ts'

/** Loads OpenTelemetry, which the built service has in a file of its own. */
export async function openTracing(
  { protocol }: TelemetrySettings,
  warn: (message: string) => void,
): Promise<void> {
  const { default: openTelemetry } = await import('./open-telemetry.ts')
  installTracing(openTelemetry(protocol, warn))
}
