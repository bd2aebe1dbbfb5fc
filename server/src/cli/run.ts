import { type Command, CommanderError } from 'commander'
import { StartError } from '../domain/errors.ts'
import { commandLine } from './command-line.ts'
import { type Context, DONE, FAILED } from './context.ts'
import { performIn } from './perform.ts'

/** As a shell reports a process that Ctrl-C has ended. */
const INTERRUPTED = 130
/** Commander's code for a command that lacks its subcommand. It has printed the help. */
const HELP_PRINTED = 'commander.help'

/** Runs a command. Resolves with the exit code. */
export async function run(context: Context, args: readonly string[]): Promise<number> {
  const { terminal } = context
  let code = DONE
  const root = commandLine(
    context,
    performIn(context, (ended) => {
      code = ended
    }),
  )
  let failing = root
  configure(root, {
    // Help and the version.
    writeOut: (text) => void terminal.print(text.trimEnd()),
    writeErr: (text) => terminal.say(text.trimEnd()),
    failing(command) {
      failing = command
    },
  })
  if (args.length === 0) {
    terminal.say('tollgate: No command given. Run tollgate --help to list the commands.')
    return FAILED
  }
  try {
    await root.parseAsync(args, { from: 'user' })
    return code
  } catch (error) {
    if (context.stopping.aborted) return INTERRUPTED
    if (error instanceof CommanderError) {
      // Help and version end this way too.
      if (error.exitCode === 0) return DONE
      if (error.code !== HELP_PRINTED) terminal.say(`tollgate: ${lineOf(error, failing)}`)
    } else if (error instanceof StartError) terminal.say(`tollgate: ${error.message}`)
    else throw error
    return FAILED
  }
}

/** Stops Commander from ending the process and printing errors. Set on each command, because commands do not inherit it. */
function configure(command: Command, output: CommandOutput): void {
  const { failing, ...writers } = output
  command.exitOverride().configureOutput({ ...writers, outputError: () => failing(command) })
  for (const each of command.commands) configure(each, output)
}

interface CommandOutput {
  writeOut: (text: string) => void
  writeErr: (text: string) => void
  /** called with the command whose arguments are wrong */
  failing: (command: Command) => void
}

/** Commander's message on one line, with where to read more. */
function lineOf({ message }: CommanderError, command: Command): string {
  const [first = '', ...more] = message.replace(/^error: /, '').split('\n')
  const text = [first, ...more].join(' ').trim()
  const line = `${text.charAt(0).toUpperCase()}${text.slice(1)}`
  const help = command.parent
    ? `Run tollgate ${pathOf(command)} --help.`
    : 'Run tollgate --help to list the commands.'
  return `${line}${/[.?]$/.test(line) ? '' : '.'} ${help}`
}

/** `keys create` */
function pathOf(command: Command): string {
  const parent = command.parent?.parent ? `${pathOf(command.parent)} ` : ''
  return `${parent}${command.name()}`
}
