import { execFile } from 'node:child_process'
import { chmod, chown, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { withClient } from '../../bench/postgres.ts'
import { type Child, descendants, start } from '../../bench/processes.ts'
import { type Binaries, locateBinaries } from '../../server/src/embedded-postgres/folders.ts'
import type { Trial } from '../trial.ts'

const run = promisify(execFile)
/** PostgreSQL may not run as root. */
export const account = process.getuid?.() === 0 ? { uid: 65534, gid: 65534 } : undefined
const PATIENCE_MS = 60_000

const SETTINGS = {
  listen_addresses: '',
  max_connections: '200',
  shared_buffers: '64MB',
  log_min_messages: 'fatal',
}

interface ClusterOptions {
  /** settings that differ */
  settings?: Record<string, string>
  /** of its processes */
  env?: Record<string, string>
  /** of a PostgreSQL other than the embedded one */
  binaries?: Binaries
}

/** A PostgreSQL of the harness itself, which can be killed, stopped, copied and promoted. */
export class Cluster {
  readonly folder: string
  readonly #data: string
  readonly #options: ClusterOptions
  #child: Child | null = null

  static async make(trial: Trial, options: ClusterOptions = {}): Promise<Cluster> {
    const cluster = new Cluster(await makeFolder(trial), options)
    trial.atEnd(() => cluster.kill())
    const { initdb } = options.binaries ?? (await locateBinaries(account))
    const args = ['-D', cluster.#data, '--username=tollgate', '--auth=trust', '--encoding=UTF8', '--locale=C']
    await run(initdb, [...args, '--no-sync', '--no-instructions'], { cwd: '/', ...account })
    await cluster.start()
    return cluster
  }

  private constructor(folder: string, options: ClusterOptions) {
    this.folder = folder
    this.#data = join(folder, 'data')
    this.#options = options
  }

  /** A copy that follows this one, which has to be stopped; it reaches it at the given address. */
  async standby(trial: Trial, primary: { host: string; port: number }): Promise<Cluster> {
    const standby = new Cluster(await makeFolder(trial), this.#options)
    trial.atEnd(() => standby.kill())
    await run('cp', ['-a', this.#data, standby.#data])
    const follow = `primary_conninfo = 'host=${primary.host} port=${primary.port} user=tollgate application_name=standby'\n`
    await standby.#put('standby.signal', '')
    await standby.#put('postgresql.auto.conf', follow)
    return standby
  }

  async #put(name: string, text: string): Promise<void> {
    const path = join(this.#data, name)
    await writeFile(path, text, { mode: 0o600 })
    if (account) await chown(path, account.uid, account.gid)
  }

  /** Of its socket, unless its settings have it listen on TCP. */
  get port(): string {
    return this.#options.settings?.port ?? '5432'
  }

  get socket(): string {
    return join(this.folder, `.s.PGSQL.${this.port}`)
  }

  url(database = 'tollgate'): string {
    return `postgresql://tollgate@localhost/${database}?host=${encodeURIComponent(this.folder)}&port=${this.port}`
  }

  async start(more: Record<string, string> = {}): Promise<void> {
    const { postgres } = this.#options.binaries ?? (await locateBinaries(account))
    const settings = { ...SETTINGS, unix_socket_directories: this.folder, ...this.#options.settings, ...more }
    const args = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`])
    this.#child = start(
      postgres,
      ['-D', this.#data, ...args],
      { LC_ALL: 'C', TZ: 'UTC', HOME: this.folder, ...this.#options.env },
      account,
    )
    const began = performance.now()
    while (!(await this.answers())) {
      if (this.#child.process.exitCode !== null || performance.now() - began > PATIENCE_MS)
        throw new Error(`PostgreSQL does not start: ${this.#child.output().slice(-500)}`)
      await sleep(20)
    }
  }

  answers(): Promise<boolean> {
    return withClient(this.url('postgres'), (client) => client.query('select 1')).then(
      () => true,
      () => false,
    )
  }

  async createDatabase(name = 'tollgate'): Promise<string> {
    await this.sql(`create database ${name}`, 'postgres')
    return this.url(name)
  }

  async sql(text: string, database = 'tollgate'): Promise<Record<string, unknown>[]> {
    return withClient(this.url(database), async (client) => (await client.query(text)).rows)
  }

  /** Has it write out everything first. */
  async stop(): Promise<void> {
    this.#child?.process.kill('SIGINT')
    await this.#child?.exited
  }

  /** As a machine that fails: no session of it is left. */
  async kill(): Promise<void> {
    const { pid, exitCode, signalCode } = this.#child?.process ?? {}
    if (pid === undefined || exitCode !== null || signalCode !== null) return
    await this.#signal('SIGKILL')
    await this.#child?.exited
  }

  /** As a machine that hangs: everything is still there, and nothing answers. */
  freeze(): Promise<void> {
    return this.#signal('SIGSTOP')
  }

  thaw(): Promise<void> {
    return this.#signal('SIGCONT')
  }

  async #signal(signal: NodeJS.Signals): Promise<void> {
    const { pid } = this.#child?.process ?? {}
    if (pid === undefined) return
    for (const each of await descendants(pid)) signalIfThere(each, signal)
  }

  async promote(): Promise<void> {
    await this.sql('select pg_promote()', 'postgres')
  }
}

export function signalIfThere(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
  }
}

export async function makeFolder(trial: Trial): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'tollgate-proof-'))
  if (account) await chown(folder, account.uid, account.gid)
  await chmod(folder, 0o700)
  trial.atEnd(() => rm(folder, { recursive: true, force: true, maxRetries: 5 }))
  return folder
}
