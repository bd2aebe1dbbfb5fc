/** A command of the bin: a program of the package, and the arguments that select a task of it. */
interface Command {
  summary: string
  /** built by `bundle.ts`, beside the built dispatcher */
  program: 'main.js' | 'data-tools.js'
  task: string[]
}

const dataTool = (task: string, summary: string): Command => ({
  summary,
  program: 'data-tools.js',
  task: [task],
})

/** Every command, in the order of the help text. */
export const COMMANDS: ReadonlyMap<string, Command> = new Map([
  ['start', { summary: 'start the service', program: 'main.js', task: [] }],
  ['backup', dataTool('backup', 'write all data to a file')],
  ['restore', dataTool('restore', 'load a backup into an empty database')],
  ['move', dataTool('move', 'copy all data to another database')],
  ['ledger', dataTool('ledger', 'list, archive and read old usage')],
  ['cells', dataTool('cells', 'spread users over several schemas')],
])

export function helpText(): string {
  const width = Math.max(...[...COMMANDS.keys()].map((name) => name.length)) + 3
  const lines = [...COMMANDS].map(([name, { summary }]) => `  ${name.padEnd(width)}${summary}`)
  return `Usage: tollgate COMMAND [OPTIONS]

${lines.join('\n')}

  tollgate COMMAND --help   options of a command
  tollgate --version        version of this package

Settings are environment variables, such as PORT, DATABASE_URL and TOLLGATE_DATA_DIR (default: ./data).`
}
