import { createServer } from 'node:net'
import { StartError } from '../domain/errors.ts'
import { readServerUrl } from '../embedded-postgres/server-url.ts'
import type { Config } from '../settings/config.ts'

/** Refuses an address that cannot be listened on before a database is created for it. */
export async function checkPort(config: Config): Promise<void> {
  const probe = createServer()
  try {
    await new Promise<void>((listening, failed) => {
      probe.once('error', failed)
      probe.listen(config.port, config.host, listening)
    })
  } catch (error) {
    const running = config.databaseUrl === null ? await readServerUrl(config.dataDir) : null
    if (running !== null && (error as NodeJS.ErrnoException).code === 'EADDRINUSE')
      throw new StartError(
        `Tollgate is already running at ${running} on the data folder ${config.dataDir}. Stop it first, or set PORT and TOLLGATE_DATA_DIR to start another server.`,
      )
    throw cannotListen(error as NodeJS.ErrnoException, config)
  }
  await new Promise((closed) => probe.close(closed))
}

export function cannotListen(error: NodeJS.ErrnoException, { host, port }: Config): StartError {
  return error.code === 'EADDRINUSE'
    ? new StartError(`Port ${port} on ${host} is already in use. Stop the other process, or set PORT.`)
    : new StartError(`Cannot listen on ${host}:${port} (${error.message}). Check HOST and PORT.`)
}

export const urlOf = (host: string, port: number): string =>
  `http://${host.includes(':') ? `[${host}]` : host}:${port}`

/** The address at which this machine reaches a service that listens on all interfaces. */
const ANYWHERE: Record<string, string> = { '0.0.0.0': '127.0.0.1', '::': '::1' }

export const localUrlOf = (host: string, port: number): string => urlOf(ANYWHERE[host] ?? host, port)
