import { access, constants, readFile } from 'node:fs/promises'
import { freemem, tmpdir, totalmem } from 'node:os'
import { ok, problem, type Result, skipped, warning } from './finding.ts'

const NEEDED_NODE = [20, 19] as const
const MB = 1024 * 1024
/** One process and the embedded PostgreSQL. */
const LEAST_MEMORY = 512 * MB
const LOW_FREE_MEMORY = 128 * MB
/** Each connection of a client is an open file. */
const FEW_FILES = 4_096

export function checkNode(version = process.versions.node): Result {
  const [major = 0, minor = 0] = version.split('.').map(Number)
  const [neededMajor, neededMinor] = NEEDED_NODE
  if (major < neededMajor || (major === neededMajor && minor < neededMinor))
    return problem(
      `Node.js ${version} is too old.`,
      `Install Node.js ${NEEDED_NODE.join('.')} or later from https://nodejs.org.`,
    )
  return ok(`Node.js ${version} on ${process.platform} ${process.arch}.`)
}

interface Memory {
  total: number
  free: number
  /** of the container; 0: unknown or unlimited */
  limit: number
}

const memoryHere = (): Memory => ({
  total: totalmem(),
  free: freemem(),
  limit: process.constrainedMemory?.() ?? 0,
})

export function checkMemory({ total, free, limit }: Memory = memoryHere()): Result {
  // An unlimited container reports a number far above the memory of the machine.
  const available = limit > 0 && limit < total ? limit : total
  const size = (bytes: number) => `${Math.round(bytes / MB).toLocaleString('en-US')} MB`
  if (available < LEAST_MEMORY)
    return warning(
      `There is ${size(available)} of memory.`,
      `Give the service at least ${size(LEAST_MEMORY)}.`,
    )
  if (free < LOW_FREE_MEMORY)
    return warning(
      `Only ${size(free)} of ${size(available)} of memory is free.`,
      'Stop other programs, or add memory.',
    )
  return ok(`${size(available)} of memory, ${size(free)} free.`)
}

export async function checkOpenFiles(read = () => readFile('/proc/self/limits', 'utf8')): Promise<Result> {
  const limits = await read().catch(() => null)
  if (limits === null) return skipped('The limit of open files is only known on Linux.')
  const limit = /^Max open files\s+(\S+)/m.exec(limits)?.[1] ?? ''
  if (limit !== 'unlimited' && Number(limit) < FEW_FILES)
    return warning(
      `A process may open ${limit} files; each connection is one.`,
      `Raise the limit to ${FEW_FILES} or more (ulimit -n, or LimitNOFILE in the systemd unit).`,
    )
  return ok(`A process may open ${limit} files.`)
}

export async function checkTemporaryFiles(folder = tmpdir()): Promise<Result> {
  try {
    await access(folder, constants.W_OK)
    return ok(`${folder} is writable.`)
  } catch (error) {
    return warning(
      `${folder} is not writable (${(error as NodeJS.ErrnoException).code}); uploaded CSV files are stored there while they are read.`,
      'Make it writable, or set TMPDIR to another folder.',
    )
  }
}
