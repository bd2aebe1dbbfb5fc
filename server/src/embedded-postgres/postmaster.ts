import { execFile } from 'node:child_process'
import { readdir, readFile, readlink } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'

/** The file PostgreSQL writes into its cluster while it runs. */
export interface PostmasterFile {
  readonly pid: number
  readonly socketDir: string
  readonly status: string
}

export async function readPostmasterFile(cluster: string): Promise<PostmasterFile | undefined> {
  const text = await readFile(join(cluster, 'postmaster.pid'), 'utf8').catch((error) => {
    if (error.code === 'ENOENT') return undefined
    throw error
  })
  if (text === undefined) return undefined
  const lines = text.split('\n')
  return {
    pid: Number.parseInt(lines[0] ?? '', 10),
    socketDir: lines[4] ?? '',
    status: lines[7]?.trim() ?? '',
  }
}

/** Process ids are reused, so a postmaster is recognised by its command line, which contains its cluster. */
export async function isPostmaster(pid: number, cluster: string): Promise<boolean> {
  if (!(pid > 0)) return false
  const command =
    process.platform === 'linux'
      ? await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')
      : await promisify(execFile)('ps', ['-o', 'command=', '-p', `${pid}`]).then(
          ({ stdout }) => stdout,
          () => '',
        )
  return command.includes(cluster)
}

/**
 * Sessions that outlived the postmaster of a cluster, recognised by their working folder and by a parent that is not a
 * postmaster. None are found on systems other than Linux.
 */
export async function sessionsLeftIn(cluster: string): Promise<number[]> {
  if (process.platform !== 'linux') return []
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name)).map(Number)
  const left = await Promise.all(pids.map((pid) => isLeftIn(cluster, pid)))
  return pids.filter((_, i) => left[i])
}

async function isLeftIn(cluster: string, pid: number): Promise<boolean> {
  const folder = await readlink(`/proc/${pid}/cwd`).catch(() => null)
  if (folder !== cluster) return false
  const title = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')
  const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '')
  const parent = Number(/^PPid:\s*(\d+)$/m.exec(status)?.[1])
  return title.startsWith('postgres: ') && parent > 0 && !(await isPostmaster(parent, cluster))
}
