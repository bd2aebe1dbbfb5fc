import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { freePort } from '../../server/test/harness/free-port.ts'
import type { NetworkProxy } from '../../server/test/harness/network-proxy.ts'
import type { Trial } from '../trial.ts'
import { Cluster } from './cluster.ts'
import { proxyIn } from './proxy.ts'

/** A PostgreSQL on this machine. */
interface Installed {
  programs: string
  extensions: string
}

const EXTENSIONS = ['citus', 'postgres_fdw', 'pg_trgm']
/** Debian's, of any version. */
const DEBIAN = '/usr/lib/postgresql'

/** Null: none here has Citus. */
const installed = [...configured(), ...debian()].find(
  ({ programs, extensions }) =>
    existsSync(join(programs, 'initdb')) &&
    EXTENSIONS.every((name) => existsSync(join(extensions, `${name}.control`))),
)

export const citusIsMissing = installed === undefined

function configured(): Installed[] {
  const ask = (option: string) =>
    execFileSync('pg_config', [option], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim()
  try {
    return [{ programs: ask('--bindir'), extensions: join(ask('--sharedir'), 'extension') }]
  } catch {
    return []
  }
}

function debian(): Installed[] {
  const versions = existsSync(DEBIAN) ? readdirSync(DEBIAN).sort().reverse() : []
  return versions.map((version) => ({
    programs: join(DEBIAN, version, 'bin'),
    extensions: join('/usr/share/postgresql', version, 'extension'),
  }))
}

const SETTINGS = {
  listen_addresses: '127.0.0.1',
  shared_preload_libraries: 'citus',
  max_connections: '300',
  max_prepared_transactions: '300',
  // A cell is taken to another server by replication.
  wal_level: 'logical',
  max_wal_senders: '20',
  max_replication_slots: '20',
  // So that the proxies can see what passes.
  'citus.node_conninfo': 'sslmode=disable',
  'citus.max_shared_pool_size': '250',
  // What a server that was killed had prepared is committed or undone soon after it is back.
  'citus.recover_2pc_interval': '1s',
}

const PATIENCE_MS = 30_000

/** A worker, which everybody reaches by way of a proxy. */
export interface CitusWorker {
  server: Cluster
  proxy: NetworkProxy
}

/** A coordinator and its workers, on loopback. */
export class CitusCluster {
  readonly coordinator: Cluster
  readonly workers: readonly CitusWorker[]

  static async make(trial: Trial, workers: number): Promise<CitusCluster> {
    const coordinator = await makeServer(trial)
    await coordinator.sql(`select citus_set_coordinator_host('127.0.0.1', ${coordinator.port})`)
    const others: CitusWorker[] = []
    for (let i = 0; i < workers; i++) {
      const server = await makeServer(trial)
      const proxy = await proxyIn(trial, { host: '127.0.0.1', port: Number(server.port) })
      await coordinator.sql(`select citus_add_node('127.0.0.1', ${proxy.port})`)
      others.push({ server, proxy })
    }
    return new CitusCluster(coordinator, others)
  }

  private constructor(coordinator: Cluster, workers: readonly CitusWorker[]) {
    this.coordinator = coordinator
    this.workers = workers
  }

  get url(): string {
    return `postgresql://tollgate@127.0.0.1:${this.coordinator.port}/tollgate`
  }

  /** As Citus knows them. */
  get workerNames(): string[] {
    return this.workers.map(({ proxy }) => `127.0.0.1:${proxy.port}`)
  }

  /** Until nothing that was prepared waits for its end; false: something still does. */
  async settled(): Promise<boolean> {
    const began = performance.now()
    while (performance.now() - began < PATIENCE_MS) {
      const waiting = await Promise.all(
        this.workers.map(({ server }) => server.sql('select gid from pg_prepared_xacts limit 1')),
      )
      if (waiting.every((some) => some.length === 0)) return true
      await sleep(200)
    }
    return false
  }
}

async function makeServer(trial: Trial): Promise<Cluster> {
  if (!installed) throw new Error('Citus is not installed')
  const { programs } = installed
  const server = await Cluster.make(trial, {
    binaries: { initdb: join(programs, 'initdb'), postgres: join(programs, 'postgres') },
    settings: { ...SETTINGS, port: await freePort() },
  })
  await server.createDatabase()
  for (const name of EXTENSIONS) await server.sql(`create extension ${name}`)
  return server
}
