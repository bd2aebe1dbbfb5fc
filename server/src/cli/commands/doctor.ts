import { Command } from 'commander'
import type { Finding } from '../../doctor/finding.ts'
import { plainText } from '../../terminal/plain-text.ts'
import type { Terminal } from '../../terminal/terminal.ts'
import { type Context, DIFFERENT, DONE } from '../context.ts'
import type { Perform } from '../perform.ts'

export function doctorCommand(perform: Perform): Command {
  return new Command('doctor')
    .summary('check this installation')
    .description(
      'Check this installation: Node.js, settings, port, data folder, database, clock, disk, keys, providers and limits. Nothing is changed. Reads the same settings as tollgate start. The exit code is 2 if something needs attention.',
    )
    .option('--json', 'print the result as JSON')
    .addHelpText(
      'after',
      '\nSettings (environment variables): those of tollgate start; see tollgate start --help.',
    )
    .action(perform(doctor))
}

async function doctor(context: Context, options: { json?: boolean }): Promise<number> {
  const { env, clocks, terminal } = context
  const { examine } = await import('../../doctor/doctor.ts')
  const findings = await examine(env, clocks)
  const problems = findings.filter(({ status }) => status === 'problem').length
  const warnings = findings.filter(({ status }) => status === 'warning').length
  const ok = problems + warnings === 0
  if (options.json) await terminal.print(JSON.stringify({ ok, problems, warnings, checks: findings }))
  else {
    for (const line of findingLines(terminal, findings)) await terminal.print(line)
    await terminal.print('')
    await terminal.print(
      ok ? 'Everything is in order.' : `${counted(problems, 'problem')}, ${counted(warnings, 'warning')}.`,
    )
  }
  return ok ? DONE : DIFFERENT
}

const counted = (count: number, noun: string) => `${count} ${noun}${count === 1 ? '' : 's'}`

const MARKS = {
  ok: ['green', '✓'],
  warning: ['yellow', '!'],
  problem: ['red', '✗'],
  skipped: ['dim', '-'],
} as const

function findingLines(terminal: Terminal, findings: readonly Finding[]): string[] {
  const width = Math.max(...findings.map(({ check }) => check.length))
  return findings.flatMap(({ check, status, message, fix }) => {
    const [style, mark] = MARKS[status]
    const line = `${terminal.paint(style, mark)} ${check.padEnd(width)}  ${plainText(message)}`
    return fix === null ? [line] : [line, `  ${' '.repeat(width)}  → ${plainText(fix)}`]
  })
}
