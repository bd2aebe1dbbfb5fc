import { readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

// The running server notes its URL in the data folder, so that a second one can say where the first one is.

const fileOf = (dataDir: string) => join(dataDir, 'server-url')

/** The note only helps a message: a start does not fail because of it. */
export async function noteServerUrl(dataDir: string, url: string): Promise<void> {
  await writeFile(fileOf(dataDir), `${process.pid} ${url}\n`).catch(() => {})
}

export async function forgetServerUrl(dataDir: string): Promise<void> {
  await rm(fileOf(dataDir), { force: true }).catch(() => {})
}

/** The URL that another live process has noted; a killed one leaves its note behind. */
export async function readServerUrl(dataDir: string): Promise<string | null> {
  const [, pid, url] = /^(\d+) (\S+)$/m.exec(await readFile(fileOf(dataDir), 'utf8').catch(() => '')) ?? []
  return url !== undefined && Number(pid) !== process.pid && isAlive(Number(pid)) ? url : null
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}
