import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'

/** What PostgreSQL writes into its cluster while it runs. */
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

/** Process ids are reused, so a postmaster is known by its command line, which names its cluster. */
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
