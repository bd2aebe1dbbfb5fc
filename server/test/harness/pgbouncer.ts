import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { inject } from 'vitest'
import { freePort } from './free-port.ts'

/** The path of a PgBouncer. Without it, what needs one is not tested. */
export const PGBOUNCER = process.env.TOLLGATE_TEST_PGBOUNCER ?? ''

export interface PgBouncer {
  /** Leads to the same database by way of it. */
  before(databaseUrl: string): string
  process: ChildProcess
  stop(): Promise<void>
}

/** One before the PostgreSQL of the tests, in transaction mode unless the settings say otherwise. */
export async function startPgBouncer(settings: Record<string, string | number> = {}): Promise<PgBouncer> {
  const server = new URL(inject('postgresUrl'))
  const host = server.searchParams.get('host') ?? server.hostname
  const port = server.searchParams.get('port') ?? (server.port || '5432')
  const folder = await mkdtemp(join(tmpdir(), 'tollgate-pgbouncer-'))
  await chmod(folder, 0o755)
  const listening = await freePort()
  const all = {
    listen_addr: '127.0.0.1',
    listen_port: listening,
    unix_socket_dir: '',
    auth_type: 'trust',
    auth_file: join(folder, 'users'),
    pool_mode: 'transaction',
    max_client_conn: 500,
    // PgBouncer refuses to run as root.
    ...(process.getuid?.() === 0 && { user: 'nobody' }),
    ...settings,
  }
  const lines = Object.entries(all).map(([name, value]) => `${name} = ${value}`)
  const user = decodeURIComponent(server.username)
  await writeFile(join(folder, 'users'), `"${user}" "${decodeURIComponent(server.password)}"\n`)
  await writeFile(
    join(folder, 'ini'),
    `[databases]\n* = host=${host} port=${port}\n[pgbouncer]\n${lines.join('\n')}\n`,
  )
  const child = spawn(PGBOUNCER, ['-q', join(folder, 'ini')], { stdio: 'ignore' })
  const gone = once(child, 'exit')
  while (child.exitCode === null && !(await accepts(Number(listening)))) await sleep(20)
  if (child.exitCode !== null) throw new Error(`PgBouncer ended with ${child.exitCode}`)
  return {
    before(databaseUrl) {
      const url = new URL(databaseUrl)
      return `postgresql://${url.username}:${url.password}@127.0.0.1:${listening}${url.pathname}`
    },
    process: child,
    async stop() {
      // A frozen one does not hear anything else.
      child.kill('SIGKILL')
      await gone
      await rm(folder, { recursive: true })
    },
  }
}

function accepts(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1')
    socket.once('connect', () => resolve(true)).once('error', () => resolve(false))
    socket.once('connect', () => socket.destroy())
  })
}
