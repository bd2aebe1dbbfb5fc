import { type Logger, pino } from 'pino'
import type { Config } from '../settings/config.ts'
import { tracing } from '../telemetry/tracing.ts'

/** JSON for machines; readable lines on a terminal. With tracing, lines of a request contain the ids of its trace. */
export function openLog(config: Pick<Config, 'logLevel' | 'logFormat' | 'telemetry'>): Logger {
  const { logLevel, logFormat, telemetry } = config
  const options = { level: logLevel, ...(telemetry && { mixin: () => tracing?.ids() ?? {} }) }
  const { stdout } = process
  const readable = logFormat === 'text' || (logFormat === 'auto' && stdout.isTTY)
  if (!readable) return pino(options)
  const colours = Boolean(stdout.isTTY) && !process.env.NO_COLOR
  return pino(options, { write: (line) => void stdout.write(forPeople(line, colours)) })
}

const LEVELS: Record<number, { name: string; colour: number }> = {
  10: { name: 'trace', colour: 90 },
  20: { name: 'debug', colour: 90 },
  30: { name: 'info', colour: 36 },
  40: { name: 'warn', colour: 33 },
  50: { name: 'error', colour: 31 },
  60: { name: 'fatal', colour: 31 },
}
const ERROR = 50

interface Logged {
  level: number
  time: number
  msg?: string
  err?: { message?: string; stack?: string }
  [detail: string]: unknown
}

/** `12:01:02 warn  a worker died; starting another  pid=12`; an error's stack follows below. */
export function forPeople(line: string, colours: boolean): string {
  const { level, time, msg = '', err, pid: _, hostname: __, ...details } = JSON.parse(line) as Logged
  const { name, colour } = LEVELS[level] ?? { name: String(level), colour: 0 }
  const shade = (text: string, code: number) => (colours ? `\u001b[${code}m${text}\u001b[0m` : text)
  const said = [msg, err?.message].filter(Boolean).join(': ')
  const rest = Object.entries(details).map(([key, value]) => `${key}=${plain(value)}`)
  const parts = [
    shade(clockTime(time), 90),
    shade(name.padEnd(5), colour),
    said,
    rest.length > 0 ? shade(rest.join(' '), 90) : '',
  ]
  const stack = level >= ERROR && err?.stack ? `${shade(err.stack.replaceAll(/^/gm, '    '), 90)}\n` : ''
  return `${parts.join(' ').trimEnd()}\n${stack}`
}

const plain = (value: unknown): string =>
  typeof value === 'string' && /^\S+$/.test(value) ? value : JSON.stringify(value)

function clockTime(time: number): string {
  const at = new Date(time)
  return [at.getHours(), at.getMinutes(), at.getSeconds()].map((n) => String(n).padStart(2, '0')).join(':')
}
