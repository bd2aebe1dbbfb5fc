import { StartError } from '../domain/errors.ts'
import { MAX_CONNECTIONS } from '../domain/limits.ts'

/** Descriptors reserved for the database, for files, and for refusing connections. */
const RESERVED = 96

/** Maximum number of open connections: as configured, or as the limit of open files allows. */
export function connectionLimit(asked: number | null, descriptors: number): number {
  const room = Math.max(descriptors - RESERVED, Math.floor(descriptors / 4))
  if (asked === null) return Math.min(MAX_CONNECTIONS, room)
  if (asked > room) {
    throw new StartError(
      `TOLLGATE_MAX_CONNECTIONS is ${asked}, but the limit of ${descriptors} open files only allows ${room}. Raise the limit (ulimit -n), or set a lower value.`,
    )
  }
  return asked
}

let descriptors: number | undefined

/** Maximum number of files and sockets of this process. It does not change while it runs. */
export function descriptorLimit(): number {
  descriptors ??= readDescriptorLimit()
  return descriptors
}

function readDescriptorLimit(): number {
  // Otherwise the report resolves the name of every peer and waits for it.
  Object.assign(process.report, { excludeNetwork: true })
  const { userLimits } = process.report.getReport() as {
    userLimits?: { open_files?: { soft?: number | 'unlimited' } }
  }
  const soft = userLimits?.open_files?.soft
  // Systems without such a limit report none.
  return typeof soft === 'number' ? soft : Number.POSITIVE_INFINITY
}
