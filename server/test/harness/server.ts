import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { tmpdir } from 'node:os'
import { fileURLToPath } from 'node:url'
import { type Logger, pino } from 'pino'
import type { Clocks } from '../../src/domain/clocks.ts'
import type { PasswordCost } from '../../src/domain/password.ts'
import type { FirstStart } from '../../src/operations/apps/first-start.ts'
import { startService } from '../../src/service.ts'
import { readConfig } from '../../src/settings/config.ts'
import { Client, dashboardClient, signedIn } from './client.ts'
import { REAL_CLOCKS } from './clocks.ts'
import { createDatabase, directSetting } from './database.ts'

export const API_KEY = 'tg_test_key_of_the_default_app'
export const OWNER = { email: 'owner@example.com', password: 'correct horse battery' }

/** Tests sign in all the time. Processes of their own hash at the full cost, as no setting lowers it. */
export const CHEAP_PASSWORDS: PasswordCost = { ln: 10, r: 8, p: 1 }

const SETTINGS = {
  PORT: '0',
  TOLLGATE_DRAIN_MS: '0',
  TOLLGATE_API_KEY: API_KEY,
}

/** For a process whose owner signs in: the others save half a second of CPU without one. */
export const OWNER_SETTINGS = {
  TOLLGATE_OWNER_EMAIL: OWNER.email,
  TOLLGATE_OWNER_PASSWORD: OWNER.password,
}

/** For a server that stores provider secrets: with DATABASE_URL, that needs a master key. */
export const MASTER_KEY_SETTINGS = { TOLLGATE_MASTER_KEY: Buffer.alloc(32, 'test').toString('base64') }

export interface TestServer {
  url: string
  databaseUrl: string
  /** the Admin API of the app `default` */
  admin: Client
  /** of the app `default`; signed in as the owner, unless the settings leave the owner out */
  dashboard: Client
  firstStart: FirstStart
  stop(): Promise<void>
}

export interface TestServerOptions {
  databaseUrl?: string
  /** the real ones, unless a test turns them; apps read the database's clock */
  clocks?: Partial<Clocks>
  passwordCost?: PasswordCost
  /** silent, unless TOLLGATE_LOG_LEVEL says otherwise */
  log?: Logger
  /** settings that differ from those above; an empty one counts as not set */
  env?: Record<string, string>
}

/** The whole service in this process, on a database of its own unless one is given. */
export async function startTestServer(options: TestServerOptions = {}): Promise<TestServer> {
  const database = options.databaseUrl ? null : await createDatabase()
  const databaseUrl = options.databaseUrl ?? database?.url ?? ''
  const config = readConfig({
    ...SETTINGS,
    ...OWNER_SETTINGS,
    ...directSetting(databaseUrl),
    ...options.env,
    DATABASE_URL: databaseUrl,
  })
  const level = process.env.TOLLGATE_LOG_LEVEL ?? 'silent'
  const log = options.log ?? pino({ level })
  const service = await startService(config, { ...REAL_CLOCKS, ...options.clocks }, log, {
    passwordCost: options.passwordCost ?? CHEAP_PASSWORDS,
  })
  // A public URL leads to a proxy, which tests have none of.
  const url = config.publicUrl ? `http://${config.host}:${config.port}` : service.url
  return {
    url,
    databaseUrl,
    admin: adminClient(url, API_KEY),
    dashboard: (config.owner ? await signedIn(url, OWNER) : dashboardClient(url)).of('default'),
    firstStart: service.firstStart,
    async stop() {
      await service.stop()
      await database?.drop()
    },
  }
}

export const adminClient = (url: string, key: string): Client =>
  new Client(`${url}/graphql`, { Authorization: key })

/** A new app with a key of its own. */
export async function createApp(
  server: Pick<TestServer, 'url' | 'dashboard'>,
  id: string,
  options: { testClock?: boolean } = {},
): Promise<Client> {
  const { createApiKey } = await server.dashboard.data(
    `mutation ($id: String!, $testClock: Boolean) {
      createApp(id: $id, name: "Test", testClock: $testClock) { id }
      createApiKey(appId: $id, name: "test") { secret }
    }`,
    { id, testClock: options.testClock ?? false },
  )
  return adminClient(server.url, createApiKey.secret)
}

export interface ServerProcess {
  url: string
  process: ChildProcess
  /** what it has printed so far */
  output(): string
  /** Ends it with this signal and waits until it is gone. */
  kill(signal: NodeJS.Signals): Promise<number | null>
}

export const MAIN = fileURLToPath(new URL('../../dist/main.js', import.meta.url))

const NODE = [process.execPath, MAIN]

const spawnMain = (env: Record<string, string>, args: string[] = [], openFiles?: number) =>
  spawn('sh', ['-c', `${openFiles ? `ulimit -n ${openFiles}; ` : ''}exec "$0" "$@"`, ...NODE, ...args], {
    env: {
      PATH: process.env.PATH ?? '',
      HOME: process.env.HOME ?? '',
      TMPDIR: tmpdir(),
      ...SETTINGS,
      ...(env.DATABASE_URL && directSetting(env.DATABASE_URL)),
      ...env,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  })

interface Ended {
  code: number | null
  stdout: string
  stderr: string
}

/** A start that is refused: how the process ended and what it said. Rejects when the service comes up after all. */
export const refusedStart = (env: Record<string, string>): Promise<Ended> => runMain(env)

/** A start with options that ends by itself. Rejects when the service comes up. */
export async function runMain(env: Record<string, string>, ...args: string[]): Promise<Ended> {
  const child = spawnMain(env, args)
  let [stdout, stderr, ready] = ['', '', false]
  child.stderr.on('data', (chunk: Buffer) => {
    stderr += chunk.toString()
  })
  child.stdout.on('data', (chunk: Buffer) => {
    stdout += chunk.toString()
    if (!stdout.includes('Tollgate is ready')) return
    ready = true
    child.kill('SIGTERM')
  })
  const [code] = await once(child, 'close')
  if (ready) throw new Error(`the server started: ${stdout}`)
  return { code, stdout, stderr }
}

/** The built service as a process of its own. Rejects with what it printed when it ends before it is ready. */
export async function spawnServer(
  env: Record<string, string>,
  { openFiles, args }: { openFiles?: number; args?: string[] } = {},
): Promise<ServerProcess> {
  const child = spawnMain(env, args, openFiles)
  let output = ''
  const url = await new Promise<string>((resolve, reject) => {
    const take = (chunk: Buffer) => {
      output += chunk.toString()
      const found = /Admin API\s+(http\S+)\/graphql/.exec(output)?.[1]
      if (found) resolve(found)
    }
    child.stdout.on('data', take)
    child.stderr.on('data', take)
    child.once('exit', (code) => reject(new Error(`the server ended with ${code}: ${output}`)))
  })
  return {
    url,
    process: child,
    output: () => output,
    async kill(signal) {
      if (child.exitCode === null && child.signalCode === null) {
        const gone = once(child, 'exit')
        child.kill(signal)
        await gone
      }
      return child.exitCode
    },
  }
}
