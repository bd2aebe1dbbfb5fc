import { fileURLToPath } from 'node:url'
import { Client } from '../server/test/harness/client.ts'
import { cpuSecondsOf, type Memory, memoryOf, printed, start } from './processes.ts'

export const API_KEY = 'tg_bench_key_of_the_default_app'
const TOLLGATE_MASTER_KEY = Buffer.alloc(32, 'bench').toString('base64')
export const OWNER = { email: 'owner@example.com', password: 'correct horse battery' }

export interface Server {
  url: string
  /** the Admin API of the app `default` */
  admin: Client
  memory(): Promise<Memory | null>
  /** of its processes, so far */
  cpuSeconds(): Promise<number>
  /** Throws if it has logged a warning or an error. */
  checkLog(): void
  stop(): Promise<void>
}

export const MAIN = fileURLToPath(new URL('../server/dist/main.js', import.meta.url))

/** The built server as a separate process, on an existing database; `main`: another build. */
export async function startServer(
  databaseUrl: string,
  env: Record<string, string> = {},
  main = MAIN,
): Promise<Server> {
  const child = start(process.execPath, [main], {
    NODE_ENV: 'production',
    PORT: '0',
    DATABASE_URL: databaseUrl,
    TOLLGATE_API_KEY: API_KEY,
    TOLLGATE_OWNER_EMAIL: OWNER.email,
    TOLLGATE_OWNER_PASSWORD: OWNER.password,
    TOLLGATE_LOG_LEVEL: 'warn',
    TOLLGATE_MASTER_KEY,
    ...env,
  })
  const url = await printed(child, /Admin API\s+(http\S+)\/graphql/)
  return {
    url,
    admin: new Client(`${url}/graphql`, { Authorization: API_KEY }),
    memory: () => memoryOf(child.process.pid ?? 0),
    cpuSeconds: () => cpuSecondsOf(child.process.pid ?? 0),
    checkLog() {
      const complaint = /^\{"level":[4-6]0,.*$/m.exec(child.output())?.[0]
      if (complaint) throw new Error(`the server complained: ${complaint.slice(0, 1_000)}`)
      if (child.process.exitCode !== null)
        throw new Error(`the server ended: ${child.output().slice(-1_000)}`)
    },
    stop: child.stop,
  }
}
