import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { builtScript } from '../../../server/test/harness/scripts.ts'

export interface QueueProcess {
  process: ChildProcess
  /** Resolves once it has printed so many lines of this text. */
  printed(line: string, times?: number): Promise<void>
  /** How many lines of this text it has printed. */
  count(line: string): number
  /** Kills it, without a chance to tidy up, and waits until it is gone. */
  kill(): Promise<void>
  gone: Promise<unknown>
}

/** A process that records usage through a queue on disk. */
export function queueProcess(env: {
  TOLLGATE_API_KEY: string
  TOLLGATE_URL: string
  QUEUE_PATH: string
  RECORDS?: string
}): QueueProcess {
  const child = spawn(process.execPath, ['--enable-source-maps', builtScript('queue-process')], {
    env: { PATH: process.env.PATH ?? '', HOME: process.env.HOME ?? '', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let [out, err] = ['', '']
  const gone = once(child, 'close')
  child.stderr.on('data', (chunk: Buffer) => {
    err += chunk.toString()
  })
  child.stdout.on('data', (chunk: Buffer) => {
    out += chunk.toString()
    child.emit('printed')
  })
  const count = (line: string) => out.split('\n').filter((one) => one === line).length
  return {
    process: child,
    count,
    gone,
    async printed(line, times = 1) {
      while (count(line) < times) {
        if (child.exitCode !== null) throw new Error(`the process ended: ${err}`)
        await Promise.race([once(child, 'printed'), gone])
      }
    },
    async kill() {
      child.kill('SIGKILL')
      await gone
    },
  }
}
