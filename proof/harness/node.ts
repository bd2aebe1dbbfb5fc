import { memoryOf, printed, start } from '../../bench/processes.ts'
import { Client } from '../../server/test/harness/client.ts'
import { freePort } from '../../server/test/harness/free-port.ts'
import type { Trial } from '../trial.ts'
import { buildService } from './build.ts'

export const API_KEY = 'tg_proof_key_of_the_default_app'
export const OWNER = { email: 'owner@example.com', password: 'correct horse battery' }

/** A process of the service that can be killed and started again on its port. */
export interface ServiceNode {
  readonly url: string
  readonly admin: Client
  /** of the process that runs now */
  readonly pid: number
  /** how the process that ran last ended; null while it runs */
  readonly ended: { code: number | null; signal: string | null } | null
  start(main?: string | Promise<string>): Promise<void>
  /** Returns when it is gone, with how long that took. */
  kill(signal: NodeJS.Signals): Promise<number>
  /** resident, in megabytes; null if unknown */
  memory(): Promise<number | null>
  output(): string
}

const builds = new Map<string, Promise<string>>()

/** The trial's build of the service: sound, or broken on purpose. */
export function serviceOf({ breakage }: Trial): Promise<string> {
  const changes = breakage?.sources ?? []
  const name = changes.length === 0 ? 'sound' : `broken-${breakage?.what.replaceAll(/\W+/g, '-')}`
  const built = builds.get(name) ?? buildService(name, changes)
  builds.set(name, built)
  return built
}

/** `main`: another build than the trial's. */
export async function startNode(
  trial: Trial,
  env: Record<string, string>,
  main?: string,
): Promise<ServiceNode> {
  const port = await freePort()
  const url = `http://127.0.0.1:${port}`
  let child: ReturnType<typeof start> | null = null
  const node: ServiceNode = {
    url,
    admin: new Client(`${url}/graphql`, { Authorization: API_KEY }),
    get pid() {
      return child?.process.pid ?? 0
    },
    get ended() {
      if (!child) return null
      const { exitCode: code, signalCode: signal } = child.process
      return code === null && signal === null ? null : { code, signal }
    },
    async start(main = serviceOf(trial)) {
      child = start(process.execPath, [await main], {
        PORT: port,
        TOLLGATE_API_KEY: API_KEY,
        TOLLGATE_OWNER_EMAIL: OWNER.email,
        TOLLGATE_OWNER_PASSWORD: OWNER.password,
        TOLLGATE_LOG_LEVEL: 'fatal',
        // All callers of a proof have one address.
        TOLLGATE_RATE_LIMIT_ADDRESS: 'off',
        ...env,
        ...trial.breakage?.settings,
      })
      await printed(child, /Admin API\s+(http\S+)\/graphql/)
    },
    async kill(signal) {
      const began = performance.now()
      child?.process.kill(signal)
      await child?.exited
      return performance.now() - began
    },
    memory: async () => (await memoryOf(node.pid))?.rss ?? null,
    output: () => child?.output() ?? '',
  }
  trial.atEnd(() => node.kill('SIGKILL'))
  await node.start(main)
  return node
}
