import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdir, readFile } from 'node:fs/promises'
import { atEnd, refuseIfEnding } from './cleanup.ts'

export interface Child {
  process: ChildProcess
  /** everything it has printed so far */
  output(): string
  /** Resolves with its exit code; null when a signal ended it. */
  exited: Promise<number | null>
  stop(): Promise<void>
}

/** Starts a process that does not outlive the bench. */
export function start(
  command: string,
  args: readonly string[],
  env: Record<string, string> = {},
  account: { uid: number; gid: number } | undefined = undefined,
): Child {
  refuseIfEnding()
  const child = spawn(command, args, {
    env: { PATH: process.env.PATH ?? '', HOME: process.env.HOME ?? '', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
    // Ctrl-C goes to the bench, which then stops the others in order.
    detached: true,
    ...account,
  })
  let output = ''
  const take = (chunk: Buffer) => {
    output += chunk.toString()
  }
  child.stdout.on('data', take)
  child.stderr.on('data', take)
  const exited = once(child, 'close').then(() => child.exitCode)
  const stop = atEnd(async () => {
    child.kill('SIGTERM')
    await exited.catch(() => {})
  })
  exited.then(stop, stop)
  return { process: child, output: () => output, exited, stop }
}

/** Runs a command to its end; what it printed. */
export async function run(
  command: string,
  args: readonly string[],
  env: Record<string, string> = {},
): Promise<string> {
  const child = start(command, args, env)
  const code = await child.exited
  if (code !== 0) throw new Error(`${command} ended with ${code}: ${child.output().trim().slice(-500)}`)
  return child.output()
}

/** Resolves with what `pattern` finds in the output; rejects with the output if the process ends first. */
export function printed(child: Child, pattern: RegExp): Promise<string> {
  return new Promise((resolve, reject) => {
    const look = () => {
      const found = pattern.exec(child.output())?.[1]
      if (found !== undefined) resolve(found)
    }
    child.process.stdout?.on('data', look)
    child.exited.then(
      (code) => reject(new Error(`it ended with ${code}: ${child.output().trim().slice(-1_000)}`)),
      reject,
    )
    look()
  })
}

export interface Memory {
  processes: number
  /** resident now, in megabytes, all processes together */
  rss: number
  /** the most that was ever resident */
  peak: number
}

/** The memory of a process and its descendants. Null without /proc. */
export async function memoryOf(pid: number): Promise<Memory | null> {
  if (process.platform !== 'linux') return null
  const pids = await descendants(pid)
  const memory: Memory = { processes: pids.length, rss: 0, peak: 0 }
  for (const each of pids) {
    const status = await readFile(`/proc/${each}/status`, 'utf8')
    const megabytes = (field: string) => Number(new RegExp(`${field}:\\s+(\\d+) kB`).exec(status)?.[1]) / 1024
    memory.rss += megabytes('VmRSS')
    memory.peak += megabytes('VmHWM')
  }
  return memory
}

/** A tick of the times in /proc, which Linux shows in hundredths whatever it counts in. */
const TICKS_PER_SECOND = 100

/** What a process and its descendants have used of the CPU so far, with those that have ended. From /proc. */
export async function cpuSecondsOf(pid: number): Promise<number> {
  let ticks = 0
  for (const each of await descendants(pid)) {
    const stat = await readFile(`/proc/${each}/stat`, 'utf8').catch(() => '')
    // The 14th to 17th field: its own time and that of its children, in user mode and in the kernel.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    ticks += fields.slice(11, 15).reduce((sum, field) => sum + Number(field), 0)
  }
  return ticks / TICKS_PER_SECOND
}

/** A process and its descendants, from /proc. */
export async function descendants(root: number): Promise<number[]> {
  const children = new Map<number, number[]>()
  for (const name of await readdir('/proc')) {
    if (!/^\d+$/.test(name)) continue
    const stat = await readFile(`/proc/${name}/stat`, 'utf8').catch(() => '')
    const parent = parentIn(stat)
    children.set(parent, [...(children.get(parent) ?? []), Number(name)])
  }
  const found = [root]
  for (const pid of found) found.push(...(children.get(pid) ?? []))
  return found
}

export const parentOf = async (pid: number): Promise<number> =>
  parentIn(await readFile(`/proc/${pid}/stat`, 'utf8'))

/** The command's name, in parentheses, may contain anything; the parent is the second field after it. */
const parentIn = (stat: string): number => Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1])
