import { fileURLToPath } from 'node:url'
import manifest from '../../package.json' with { type: 'json' }
import { COMMANDS, helpText } from './commands.ts'

const [name = '', ...args] = process.argv.slice(2)
const command = COMMANDS.get(name)

if (command) {
  const program = new URL(command.program, import.meta.url)
  // As if the program had been called directly: processes that it forks skip this dispatcher.
  process.argv.splice(1, process.argv.length, fileURLToPath(program), ...command.task, ...args)
  // Set by npm. Paths are relative to the current folder here, not to where an enclosing npm script was called.
  delete process.env.INIT_CWD
  await import(program.href)
} else if (name === '--help' || name === '-h') {
  process.stdout.write(`${helpText()}\n`)
} else if (name === '--version') {
  process.stdout.write(`${manifest.version}\n`)
} else {
  const problem = name === '' ? 'No command given.' : `Unknown command ${JSON.stringify(name)}.`
  process.stderr.write(`tollgate: ${problem} Run tollgate --help to list the commands.\n`)
  process.exitCode = 1
}
