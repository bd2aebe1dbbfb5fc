import { StartError } from '../domain/errors.ts'
import type { Config } from '../settings/config.ts'
import { checkPort, localUrlOf, urlOf } from '../start/port.ts'
import { CHECK_MS, ok, problem, type Result, skipped, warning } from './finding.ts'

const ANSWER_MS = CHECK_MS / 2

/** The status of a path of a running service; null: nothing answers like Tollgate. */
async function statusOf(url: string, body: string): Promise<number | null> {
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(ANSWER_MS), redirect: 'manual' })
    const text = await response.text()
    return response.status !== 200 || text.trim() === body ? response.status : null
  } catch {
    return null
  }
}

/** Whether the service of this configuration answers on this machine. */
async function isRunning({ host, port }: Pick<Config, 'host' | 'port'>): Promise<boolean> {
  return port !== 0 && (await statusOf(`${localUrlOf(host, port)}/healthz`, 'ok')) === 200
}

export async function checkListening(config: Config): Promise<Result> {
  const { host, port } = config
  if (port === 0) return ok('PORT is 0: the system chooses a port.')
  const url = urlOf(host, port)
  if (await isRunning(config)) {
    const ready = await fetch(`${localUrlOf(host, port)}/readyz`, {
      signal: AbortSignal.timeout(ANSWER_MS),
    }).then(
      ({ status }) => status,
      () => 0,
    )
    return ready === 200
      ? ok(`The service is running at ${url} and is ready.`)
      : problem(
          `The service is running at ${url}, but it is not ready (/readyz answers ${ready || 'nothing'}).`,
          'Read its log: it cannot read from or write to the database.',
        )
  }
  try {
    await checkPort(config)
    return ok(`Port ${port} on ${host} is free.`)
  } catch (error) {
    if (!(error instanceof StartError)) throw error
    return problem(error.message, null)
  }
}

/** Payment providers send webhook events to the public URL, and links in emails and pages lead to it. */
export async function checkPublicUrl(config: Config): Promise<Result> {
  const { publicUrl, stripe } = config
  if (publicUrl === null) {
    if (stripe === null) return skipped('TOLLGATE_PUBLIC_URL is not set; links lead to this machine.')
    return warning(
      'TOLLGATE_PUBLIC_URL is not set, so Stripe cannot deliver webhook events.',
      'Set TOLLGATE_PUBLIC_URL to the https URL of the service, and add its /webhooks/stripe/default at Stripe.',
    )
  }
  if (stripe !== null && !publicUrl.startsWith('https:'))
    return warning(
      `${publicUrl} is not encrypted; Stripe delivers webhook events of a live account to https URLs only.`,
      'Serve it over TLS, and set TOLLGATE_PUBLIC_URL to the https URL.',
    )
  const status = await statusOf(`${publicUrl}/healthz`, 'ok')
  if (status === 200) return ok(`${publicUrl}/healthz answers.`)
  if (!(await isRunning(config)))
    return skipped(`The service is not running, so ${publicUrl} cannot be examined.`)
  return problem(
    status === null
      ? `${publicUrl}/healthz does not answer like Tollgate.`
      : `${publicUrl}/healthz answers with HTTP ${status}.`,
    'Check TOLLGATE_PUBLIC_URL, its DNS name, its certificate, and the proxy in front of the service. If this machine cannot reach its own public address, check from another one.',
  )
}
