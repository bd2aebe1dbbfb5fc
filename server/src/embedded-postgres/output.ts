import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'
import type { Log } from './folders.ts'

/** PostgreSQL's last output, for when it does not start; later lines that matter go to the log. */
export function keepLastLines(stream: Readable) {
  const lines: string[] = []
  let log: Log | undefined
  const reader = createInterface({ input: stream })
  reader.on('line', (line) => {
    lines.push(line)
    if (lines.length > 20) lines.shift()
    if (matters(line)) log?.('PostgreSQL', { line }, 'warn')
  })
  return {
    lines,
    closed: new Promise<void>((resolve) => reader.once('close', resolve)),
    forward: (to: Log) => {
      log = to
    },
  }
}

const matters = (line: string) =>
  /^(FATAL|PANIC):|was terminated by signal/.test(line) &&
  !/administrator command|the database system is/.test(line)

export function failureIn(lines: readonly string[]): string | undefined {
  const at = lines.findLastIndex((line) => /^(FATAL|PANIC):/.test(line))
  const detail = lines[at + 1]?.startsWith('DETAIL:') ? lines[at + 1] : undefined
  return at < 0 ? lines.at(-1) : [lines[at], detail].filter(Boolean).join(' ').replaceAll(/\s+/g, ' ')
}
