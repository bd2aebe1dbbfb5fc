import { chmod, mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { isPostmaster } from '../../src/embedded-postgres/postmaster.ts'
import { connectionToRunning, type SocketConnection } from '../../src/embedded-postgres/start.ts'

/** A folder for a service with its own PostgreSQL. */
export interface DataFolder {
  path: string
  /** The process id of its PostgreSQL and where that listens; null when there is none. */
  postmaster(): Promise<{ pid: number; host: string } | null>
  /** To its database, past the service. */
  connection(): Promise<SocketConnection & { ssl: false }>
  /** Removes it, with a PostgreSQL that may still run there. */
  remove(): Promise<void>
}

/** A new one, or one that is there. */
export async function makeDataFolder(given?: string): Promise<DataFolder> {
  const path = given ?? (await mkdtemp(join(tmpdir(), 'tollgate-test-')))
  // As root, PostgreSQL runs under another account, which has to get in.
  await chmod(path, 0o755)

  // Where that account cannot get in all the same, the files are elsewhere and a file says where.
  const elsewhere = () =>
    readFile(join(path, 'postgres-location'), 'utf8').then(
      (text) => text.trim(),
      () => null,
    )
  const clusterFolder = async () => join((await elsewhere()) ?? path, 'postgres')

  const postmaster = async () => {
    const cluster = await clusterFolder()
    const text = await readFile(join(cluster, 'postmaster.pid'), 'utf8').catch(() => '')
    const [pid, , , , host] = text.split('\n')
    return pid && host && (await isPostmaster(Number(pid), cluster)) ? { pid: Number(pid), host } : null
  }
  return {
    path,
    postmaster,
    async connection() {
      const running = await connectionToRunning(path)
      if (!running) throw new Error(`no PostgreSQL runs on ${path}`)
      return { ...running, ssl: false }
    },
    async remove() {
      for (let running = await postmaster(); running; running = await postmaster()) {
        process.kill(running.pid, 'SIGQUIT')
        await sleep(50)
      }
      const place = await elsewhere()
      if (place && dirname(place) !== '/') await rm(place, { recursive: true, force: true })
      await rm(path, { recursive: true, force: true, maxRetries: 5 })
    },
  }
}
