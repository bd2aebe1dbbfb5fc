import { existsSync } from 'node:fs'
import { lchown, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { StartError } from '../domain/errors.ts'

/** The account that PostgreSQL runs as; undefined when it is the server's own. */
export type Account = { uid: number; gid: number } | undefined

interface Named {
  name: string
  uid: number
  gid: number
}

/** By default, an account of this name is taken to be PostgreSQL's. */
const OWN = 'tollgate'
const SHARED = 'nobody'

async function accounts(): Promise<Named[]> {
  const lines = (await readFile('/etc/passwd', 'utf8').catch(() => '')).split('\n')
  return lines
    .map((line) => line.split(':'))
    .map(([name = '', , uid, gid]) => ({ name, uid: Number(uid), gid: Number(gid) }))
}

export async function uidOf(name: string): Promise<number | undefined> {
  return (await accounts()).find((account) => account.name === name)?.uid
}

/**
 * The account under which root runs PostgreSQL: the configured one, the owner of the files, or a dedicated one.
 * `shared` is the name of an account that other programs may use too.
 */
export async function accountFor(
  cluster: string,
  found: { uid: number; gid: number } | undefined,
  osUser: string | null,
  log: (message: string) => void,
): Promise<{ account: { uid: number; gid: number }; shared: string | null }> {
  const known = await accounts()
  const nameOf = (uid: number) => known.find((account) => account.uid === uid)?.name ?? null
  const shared = (uid: number) => (nameOf(uid) === SHARED ? SHARED : null)
  const owner = found && found.uid !== 0 ? { uid: found.uid, gid: found.gid } : null
  if (osUser !== null) {
    const named = known.find(({ name }) => name === osUser)
    if (!named || !(named.uid > 0)) {
      throw new StartError(
        `TOLLGATE_POSTGRES_USER is ${osUser}, which is ${named ? 'root, and PostgreSQL cannot run as root' : 'not a user of this system'}. Set another user.`,
      )
    }
    const { uid, gid } = named
    // A PostgreSQL left running by a killed server would lose access to its files.
    if (!owner || owner.uid === uid || !existsSync(join(cluster, 'postmaster.pid'))) {
      return { account: { uid, gid }, shared: shared(uid) }
    }
    log(
      `The database was not shut down cleanly and keeps running as user ${owner.uid}; it will run as ${osUser} after the next start`,
    )
  }
  if (owner) return { account: owner, shared: shared(owner.uid) }

  // On macOS `nobody` has a negative id, which cannot be passed on: any other unprivileged account will do.
  const usable = known.filter(({ uid, gid }) => uid > 0 && gid > 0)
  const chosen =
    usable.find(({ name }) => name === OWN) ?? usable.find(({ name }) => name === SHARED) ?? usable[0]
  const { uid, gid } = chosen ?? { uid: 65534, gid: 65534 }
  return { account: { uid, gid }, shared: chosen?.name === OWN ? null : (chosen?.name ?? SHARED) }
}

export async function giveTo({ uid, gid }: { uid: number; gid: number }, paths: string[]): Promise<void> {
  for (const path of paths) await lchown(path, uid, gid)
}
