import { Command } from 'commander'
import { auditCommand } from './commands/audit.ts'
import { checkCommand } from './commands/check.ts'
import { clockCommand } from './commands/clock.ts'
import { doctorCommand } from './commands/doctor.ts'
import { keysCommand } from './commands/keys.ts'
import { recordCommand } from './commands/record.ts'
import { usersCommand } from './commands/users.ts'
import type { Context, Program } from './context.ts'
import type { Perform } from './perform.ts'
import { ALL_SETTINGS, settingsText } from './settings.ts'

/** Commands that are programs of their own, which read their own options and print their own help. */
const PROGRAMS: Record<string, { summary: string; program: Program; task: string[] }> = {
  start: { summary: 'start the service', program: 'main.js', task: [] },
  backup: { summary: 'write all data to a file', program: 'data-tools.js', task: ['backup'] },
  restore: { summary: 'load a backup into an empty database', program: 'data-tools.js', task: ['restore'] },
  move: { summary: 'copy all data to another database', program: 'data-tools.js', task: ['move'] },
  ledger: { summary: 'list, archive and read old usage', program: 'data-tools.js', task: ['ledger'] },
  cells: { summary: 'spread users over several schemas', program: 'data-tools.js', task: ['cells'] },
}

const GROUPS = { service: 'Service:', app: 'Apps:', data: 'Data:' }

/** All commands. `perform` runs those of this program. */
export function commandLine(context: Context, perform: Perform): Command {
  const program = (name: string) => programCommand(context, name)
  const [start, ...dataTools] = Object.keys(PROGRAMS).map(program)
  const root = new Command('tollgate')
    .description('Entitlements and subscriptions: the service and its tools.')
    .usage('<command> [options]')
    .helpCommand(false)
    // Options after a command belong to it.
    .enablePositionalOptions()
    .version(context.version, '--version', 'print the version of this package')
    .configureHelp({ subcommandTerm: (command) => command.name() })
    .addHelpText('after', `\n${settingsText(ALL_SETTINGS)}\n\n${MORE_SETTINGS}\n\n${EXIT_CODES}`)
  const add = (group: string, commands: (Command | undefined)[]) => {
    for (const command of commands) if (command) root.addCommand(command.helpGroup(group))
  }
  add(GROUPS.service, [start, doctorCommand(perform)])
  add(GROUPS.app, [
    checkCommand(perform),
    recordCommand(perform),
    usersCommand(perform),
    keysCommand(perform),
    clockCommand(perform),
    auditCommand(perform),
  ])
  add(GROUPS.data, dataTools)
  return root
}

const MORE_SETTINGS =
  'Settings of the service, such as PORT, DATABASE_URL and TOLLGATE_DATA_DIR, are listed by tollgate start --help.'
const EXIT_CODES =
  'Exit codes: 0 done; 1 failed; 2 access denied, usage refused, or something that needs attention.'

/** The arguments go to the program unchanged. */
function programCommand(context: Context, name: string): Command {
  const found = PROGRAMS[name]
  if (!found) throw new Error(`no program runs the command ${name}`)
  const command = new Command(name)
    .summary(found.summary)
    .helpOption(false)
    .allowUnknownOption()
    .allowExcessArguments()
    .argument('[arguments...]')
  return command.action(() => context.runProgram(found.program, [...found.task, ...command.args]))
}
