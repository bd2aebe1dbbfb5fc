import { access, constants, stat, statfs } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { clusterOf } from '../embedded-postgres/folders.ts'
import type { Config } from '../settings/config.ts'
import { ok, problem, type Result, skipped, warning } from './finding.ts'

const MB = 1024 * 1024
/** PostgreSQL stops writing when the disk is full, and needs room for its log to recover. */
const TOO_LITTLE_SPACE = 256 * MB
const LITTLE_SPACE = 2_048 * MB
/** Others could change the database's files. */
const WRITABLE_BY_OTHERS = 0o022
const READABLE_BY_OTHERS = 0o077
const SECRET_FILES = ['pgpass', 'master-key']

const code = (error: unknown) => (error as NodeJS.ErrnoException).code

/** Its existence, owner and permissions. */
export async function checkDataFolder({ databaseUrl, dataDir }: Config): Promise<Result> {
  if (databaseUrl !== null) return skipped('Not used, because DATABASE_URL is set.')
  const found = await stat(dataDir).catch((error) => {
    if (code(error) === 'ENOENT') return null
    throw error
  })
  if (found === null) return notThereYet(dataDir)
  if (!found.isDirectory())
    return problem(`${dataDir} is not a folder.`, 'Set TOLLGATE_DATA_DIR to a folder.')
  const denied = await access(dataDir, constants.W_OK | constants.X_OK).then(() => null, code)
  if (denied)
    return problem(
      `${dataDir} is not writable (${denied}).`,
      'Change its permissions, run the service as its owner, or set TOLLGATE_DATA_DIR to a writable folder.',
    )
  const user = process.getuid?.()
  if (user !== undefined && user !== 0 && found.uid !== user)
    return warning(
      `${dataDir} is owned by user ${found.uid}, and this is user ${user}.`,
      `Run the service as the owner, or change the owner (chown -R ${user} ${dataDir}).`,
    )
  if (found.mode & WRITABLE_BY_OTHERS)
    return warning(`Other users may write to ${dataDir}.`, `chmod go-w ${dataDir}`)
  for (const name of SECRET_FILES) {
    const file = join(dataDir, name)
    const mode = await stat(file).then(
      (secret) => secret.mode,
      () => 0,
    )
    if (mode & READABLE_BY_OTHERS) return problem(`Other users may read ${file}.`, `chmod 600 ${file}`)
  }
  return ok(`${dataDir} is writable, and others cannot read its secrets.`)
}

async function notThereYet(dataDir: string): Promise<Result> {
  const parent = await nearest(dataDir)
  const denied = await access(parent, constants.W_OK).then(() => null, code)
  return denied
    ? problem(
        `${dataDir} does not exist, and cannot be created in ${parent} (${denied}).`,
        'Create it for the user who runs the service, or set TOLLGATE_DATA_DIR to a writable folder.',
      )
    : ok(`${dataDir} does not exist yet; the first start creates it.`)
}

/** The folder itself, or the closest one above it that exists. */
async function nearest(folder: string): Promise<string> {
  for (let path = folder; ; path = dirname(path)) {
    const exists = await stat(path).then(
      () => true,
      () => false,
    )
    if (exists || dirname(path) === path) return path
  }
}

/** Of the file system that holds the embedded database. */
export async function checkDiskSpace({ databaseUrl, dataDir }: Config): Promise<Result> {
  if (databaseUrl !== null) return skipped('The database is on a server of its own; watch its disk there.')
  const cluster = await clusterOf(dataDir).catch(() => dataDir)
  const { bavail, bsize, blocks } = await statfs(await nearest(cluster))
  return spaceResult(bavail * bsize, blocks * bsize)
}

export function spaceResult(free: number, total: number): Result {
  const size = (bytes: number) => `${(bytes / MB / 1024).toFixed(1)} GB`
  const message = `${size(free)} of ${size(total)} is free.`
  const fix = 'Free up space or enlarge the disk: PostgreSQL stops when it is full.'
  if (free < TOO_LITTLE_SPACE) return problem(message, fix)
  return free < LITTLE_SPACE ? warning(message, fix) : ok(message)
}
