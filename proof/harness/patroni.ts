import { existsSync, readdirSync } from 'node:fs'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { withClient } from '../../bench/postgres.ts'
import { type Child, descendants, start } from '../../bench/processes.ts'
import { freePort } from '../../server/test/harness/free-port.ts'
import type { NetworkProxy } from '../../server/test/harness/network-proxy.ts'
import type { Trial } from '../trial.ts'
import { account, makeFolder, signalIfThere } from './cluster.ts'
import { proxyIn } from './proxy.ts'

const PROGRAMS = ['/usr/bin/patroni', '/usr/bin/etcd', '/usr/sbin/haproxy']
/** Debian's, since Patroni has to know the version. */
const POSTGRES = '/usr/lib/postgresql'
const newest = existsSync(POSTGRES) ? readdirSync(POSTGRES).sort().at(-1) : undefined
const BINARIES = newest && join(POSTGRES, newest, 'bin')

/** What is missing here; empty: a cluster can be made. */
export const missingPrograms = [
  ...PROGRAMS.filter((path) => !existsSync(path)),
  ...(BINARIES ? [] : [POSTGRES]),
]

const PATIENCE_MS = 120_000

/**
 * The shortest times that Patroni allows: a primary that is gone is replaced after `ttl`. Synchronous: a commit is
 * acknowledged once the standby has it, and only that standby may take over.
 */
const DCS = {
  ttl: 20,
  loop_wait: 2,
  retry_timeout: 3,
  primary_start_timeout: 0,
  master_start_timeout: 0,
  synchronous_mode: true,
  postgresql: { use_pg_rewind: true, parameters: { max_connections: 200, wal_keep_size: '256MB' } },
}

/** A PostgreSQL with the Patroni that looks after it; everybody reaches both by way of proxies. */
export class PatroniNode {
  readonly name: string
  readonly toPostgres: NetworkProxy
  readonly toApi: NetworkProxy
  readonly #toEtcd: NetworkProxy
  readonly #folder: string
  #child: Child | null = null

  static async make(trial: Trial, name: string, etcdPort: number): Promise<PatroniNode> {
    const folder = await makeFolder(trial)
    const [postgres, api] = [Number(await freePort()), Number(await freePort())]
    const local = (port: number) => ({ host: '127.0.0.1', port })
    const node = new PatroniNode(
      name,
      folder,
      await proxyIn(trial, local(postgres)),
      await proxyIn(trial, local(api)),
      await proxyIn(trial, local(etcdPort)),
    )
    trial.atEnd(() => node.signal('SIGKILL'))
    await writeFile(join(folder, 'patroni.yml'), JSON.stringify(node.#settings(postgres, api)), {
      mode: 0o644,
    })
    node.start()
    return node
  }

  private constructor(
    name: string,
    folder: string,
    toPostgres: NetworkProxy,
    toApi: NetworkProxy,
    toEtcd: NetworkProxy,
  ) {
    this.name = name
    this.#folder = folder
    this.toPostgres = toPostgres
    this.toApi = toApi
    this.#toEtcd = toEtcd
  }

  #settings(postgres: number, api: number): object {
    const at = (port: number) => `127.0.0.1:${port}`
    const login = (username: string) => ({ username, password: 'secret' })
    return {
      scope: 'tollgate',
      name: this.name,
      restapi: { listen: at(api), connect_address: at(this.toApi.port) },
      // It would ask etcd for its address otherwise, and go past the proxy.
      etcd: { host: at(this.#toEtcd.port), use_proxies: true },
      bootstrap: { dcs: DCS, initdb: [{ encoding: 'UTF8' }, { locale: 'C' }, 'data-checksums'] },
      postgresql: {
        listen: at(postgres),
        connect_address: at(this.toPostgres.port),
        data_dir: join(this.#folder, 'data'),
        bin_dir: BINARIES,
        authentication: {
          superuser: login('postgres'),
          replication: login('replicator'),
          rewind: login('rewind'),
        },
        pgpass: join(this.#folder, 'pgpass'),
        parameters: { unix_socket_directories: this.#folder },
        pg_hba: [
          'local all all trust',
          'host all all 127.0.0.1/32 trust',
          'host replication all 127.0.0.1/32 trust',
        ],
      },
      watchdog: { mode: 'off' },
    }
  }

  start(): void {
    this.#child = start(
      '/usr/bin/patroni',
      [join(this.#folder, 'patroni.yml')],
      { LC_ALL: 'C', HOME: this.#folder },
      account,
    )
  }

  /** As what happens to a machine: Patroni and PostgreSQL together. */
  async signal(signal: NodeJS.Signals): Promise<void> {
    const roots = [this.#child?.process.pid, await this.#postmaster()].filter((pid) => pid !== undefined)
    for (const root of roots) for (const pid of await descendants(root)) signalIfThere(pid, signal)
  }

  async #postmaster(): Promise<number | undefined> {
    const text = await readFile(join(this.#folder, 'data', 'postmaster.pid'), 'utf8').catch(() => '')
    const pid = Number.parseInt(text, 10)
    return pid > 0 && existsSync(`/proc/${pid}`) ? pid : undefined
  }

  /** From everybody, and everybody from it. */
  cutOff(): void {
    for (const proxy of [this.toPostgres, this.toApi, this.#toEtcd]) proxy.trouble = 'swallow'
  }

  reconnect(): void {
    for (const proxy of [this.toPostgres, this.toApi, this.#toEtcd]) {
      // Connections from that time never come back to life.
      proxy.trouble = 'reset'
      proxy.trouble = 'none'
    }
  }

  /** Whether Patroni says so of its own PostgreSQL. */
  async is(role: 'primary' | 'sync'): Promise<boolean> {
    const path = role === 'primary' ? 'primary' : 'synchronous'
    const url = `http://127.0.0.1:${this.toApi.port}/${path}`
    return fetch(url, { signal: AbortSignal.timeout(1_000) }).then(
      ({ status }) => status === 200,
      () => false,
    )
  }

  sql(text: string, database = 'tollgate'): Promise<Record<string, unknown>[]> {
    const url = `postgresql://postgres@127.0.0.1:${this.toPostgres.port}/${database}`
    return withClient(url, async (client) => (await client.query(text)).rows)
  }

  /** For whoever wants to try it by hand. */
  get about(): string {
    return `Patroni is process ${this.#child?.process.pid}, its data in ${this.#folder}; patronictl -c ${this.#folder}/patroni.yml list`
  }

  output(): string {
    return this.#child?.output().slice(-2_000) ?? ''
  }
}

/** etcd, two PostgreSQL under Patroni, and HAProxy, all on loopback. */
export class PatroniCluster {
  readonly nodes: readonly PatroniNode[]
  readonly #haproxyPort: string

  static async make(trial: Trial): Promise<PatroniCluster> {
    const etcd = await startEtcd(trial)
    const first = await PatroniNode.make(trial, 'one', etcd)
    await until(
      () => first.is('primary'),
      () => first.output(),
    )
    const nodes = [first, await PatroniNode.make(trial, 'two', etcd)]
    const cluster = new PatroniCluster(nodes, await startHaproxy(trial, nodes))
    await cluster.inSync()
    await first.sql('create database tollgate', 'postgres')
    return cluster
  }

  private constructor(nodes: readonly PatroniNode[], haproxyPort: string) {
    this.nodes = nodes
    this.#haproxyPort = haproxyPort
  }

  /** With all servers in the URL. */
  get url(): string {
    const hosts = this.nodes.map(({ toPostgres }) => `127.0.0.1:${toPostgres.port}`)
    return `postgresql://postgres@${hosts.join(',')}/tollgate?target_session_attrs=read-write`
  }

  get haproxyUrl(): string {
    return `postgresql://postgres@127.0.0.1:${this.#haproxyPort}/tollgate`
  }

  /** Until there is a primary and its synchronous standby: only then may the next failover happen. */
  async inSync(): Promise<{ primary: PatroniNode; standby: PatroniNode }> {
    let found: { primary: PatroniNode; standby: PatroniNode } | null = null
    await until(
      async () => {
        const [one, two] = this.nodes as [PatroniNode, PatroniNode]
        if ((await one.is('primary')) && (await two.is('sync'))) found = { primary: one, standby: two }
        else if ((await two.is('primary')) && (await one.is('sync'))) found = { primary: two, standby: one }
        return found !== null
      },
      () => this.nodes.map((node) => `${node.name}: ${node.output()}`).join('\n'),
    )
    return found as unknown as { primary: PatroniNode; standby: PatroniNode }
  }
}

async function startEtcd(trial: Trial): Promise<number> {
  const folder = await makeFolder(trial)
  const [port, peers] = [await freePort(), await freePort()]
  const [client, peer] = [`http://127.0.0.1:${port}`, `http://127.0.0.1:${peers}`]
  const settings = {
    'data-dir': join(folder, 'data'),
    'listen-client-urls': client,
    'advertise-client-urls': client,
    'listen-peer-urls': peer,
    'initial-advertise-peer-urls': peer,
    'initial-cluster': `default=${peer}`,
    'unsafe-no-fsync': 'true',
    // Patroni 3.0's client for the newer protocol works from a copy that a cut-off node may not bring up to date.
    'enable-v2': 'true',
  }
  const args = Object.entries(settings).map(([name, value]) => `--${name}=${value}`)
  // It wants to be told that arm64 is meant.
  const child = start('/usr/bin/etcd', args, { ETCD_UNSUPPORTED_ARCH: 'arm64' }, account)
  trial.atEnd(() => child.stop())
  await until(
    () =>
      fetch(`${client}/health`).then(
        ({ ok }) => ok,
        () => false,
      ),
    () => child.output().slice(-2_000),
  )
  return Number(port)
}

async function startHaproxy(trial: Trial, nodes: readonly PatroniNode[]): Promise<string> {
  const folder = await makeFolder(trial)
  const port = await freePort()
  const file = join(folder, 'haproxy.cfg')
  const servers = nodes.map(
    ({ name, toPostgres, toApi }) => `  server ${name} 127.0.0.1:${toPostgres.port} check port ${toApi.port}`,
  )
  await writeFile(file, [HAPROXY.replace('PORT', port), ...servers, ''].join('\n'), { mode: 0o644 })
  const child = start('/usr/sbin/haproxy', ['-f', file], {}, account)
  trial.atEnd(() => child.stop())
  return port
}

const HAPROXY = `global
  maxconn 500
defaults
  mode tcp
  timeout connect 2s
  timeout client 1h
  timeout server 1h
  timeout check 1s
listen primary
  bind 127.0.0.1:PORT
  option httpchk OPTIONS /primary
  http-check expect status 200
  default-server inter 1s fall 2 rise 1 on-marked-down shutdown-sessions`

async function until(condition: () => Promise<boolean>, told: () => string): Promise<void> {
  const began = performance.now()
  while (!(await condition())) {
    if (performance.now() - began > PATIENCE_MS) throw new Error(`the cluster is not there yet: ${told()}`)
    await sleep(100)
  }
}
