import { pino } from 'pino'
import { expect } from 'vitest'
import { startService } from '../../src/service.ts'
import { readConfig } from '../../src/settings/config.ts'
import type { RunningService } from '../../src/start/running-service.ts'
import { REAL_CLOCKS } from './clocks.ts'
import { createDatabase } from './database.ts'
import {
  API_KEY,
  adminClient,
  CHEAP_PASSWORDS,
  OWNER_SETTINGS,
  type ServerProcess,
  spawnServer,
} from './server.ts'

type Env = Record<string, string>

export const GIVEN = { TOLLGATE_API_KEY: API_KEY, ...OWNER_SETTINGS }
/** Nothing said about key and owner: what a first start by hand looks like. */
export const BARE = { TOLLGATE_API_KEY: '', TOLLGATE_OWNER_EMAIL: '', TOLLGATE_OWNER_PASSWORD: '' }

/** Starts of the service, each undone by `cleanUp`. */
export function starts() {
  const cleanups: (() => Promise<unknown>)[] = []
  return {
    cleanups,

    async newDatabase(create = createDatabase): Promise<{ DATABASE_URL: string }> {
      const database = await create()
      cleanups.push(database.drop)
      return { DATABASE_URL: database.url }
    },

    /** In this process: what is printed is left out. */
    async start(env: Env): Promise<RunningService> {
      const config = readConfig({ PORT: '0', ...env })
      const service = await startService(config, REAL_CLOCKS, pino({ level: 'silent' }), {
        passwordCost: CHEAP_PASSWORDS,
      })
      cleanups.push(() => service.stop())
      return service
    },

    async startProcess(env: Env, ...args: string[]): Promise<ServerProcess> {
      const server = await spawnServer({ TOLLGATE_LOG_LEVEL: 'error', ...env }, { args })
      cleanups.push(() => server.kill('SIGKILL'))
      return server
    },

    async cleanUp(): Promise<void> {
      for (const cleanup of cleanups.splice(0).reverse()) await cleanup()
    },
  }
}

export function printedBy(server: ServerProcess): { key: string | undefined; token: string | undefined } {
  const output = server.output()
  return {
    key: /TOLLGATE_API_KEY=(\S+)/.exec(output)?.[1],
    token: /\/setup#token=(\S+)/.exec(output)?.[1],
  }
}

export async function works({ url }: { url: string }, key: string): Promise<boolean> {
  const { errors } = await adminClient(url, key).ask('{ features { id } }')
  if (errors) expect(errors.map((error) => error.extensions.code)).toEqual(['UNAUTHENTICATED'])
  return !errors
}
