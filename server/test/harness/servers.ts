import type { TestApp } from './catalogue.ts'
import { type Client, signedIn } from './client.ts'
import { createDatabase, type TestDatabase } from './database.ts'
import { API_KEY, adminClient, OWNER, OWNER_SETTINGS, type ServerProcess, spawnServer } from './server.ts'

/** Several server processes on one database. */
export interface Servers {
  database: TestDatabase
  processes: ServerProcess[]
  /** the app `default`, as the first process serves it */
  app: TestApp
  /** of the process with this number, counted round and round */
  url(process: number): string
  /** its Admin API as the process with this number serves it */
  admin(process: number, key?: string): Client
  close(): Promise<void>
}

export async function openServers(count: number, env: Record<string, string> = {}): Promise<Servers> {
  const database = await createDatabase()
  const processes: ServerProcess[] = []
  while (processes.length < count) {
    processes.push(
      await spawnServer({
        ...OWNER_SETTINGS,
        DATABASE_URL: database.url,
        TOLLGATE_LOG_LEVEL: 'error',
        ...env,
      }),
    )
  }
  const url = (process: number) => processes[process % count]?.url ?? ''
  const admin = (process: number, key = API_KEY) => adminClient(url(process), key)
  return {
    database,
    processes,
    app: { id: 'default', admin: admin(0), dashboard: await signedIn(url(0), OWNER) },
    url,
    admin,
    async close() {
      for (const process of processes) await process.kill('SIGTERM')
      await database.drop()
    },
  }
}
