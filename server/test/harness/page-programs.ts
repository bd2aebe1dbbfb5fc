import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { ROOT } from './source-files.ts'

/**
 * Pages of the documentation whose code is run as it stands, one block after the other, against a service: by
 * `site/test/programs.test.ts`. The commands of other pages are run by `server/test/tools/commands.test.ts`, the fragments of
 * the SDK's page are compiled by `sdk/test/fragments.test.ts`.
 */
export const isProgramPage = (path: string): boolean =>
  /^docs\/(start|guides|concepts)\//.test(path)
    ? path !== 'docs/start/run.md'
    : ['docs/billing.md', 'docs/rest.md'].includes(path)

/** One thing that the reader of a page does. */
export type Step =
  /** saves the block under the name behind its language: ```js [check.mjs] */
  | { kind: 'file'; name: string; text: string }
  /** pastes it into a shell, which prints what the next block says, if it is marked [output] */
  | { kind: 'shell'; text: string; output: string | null }
  | { kind: 'graphql'; text: string }
  /** does in the dashboard what the page says in words: a mutation in a comment */
  | { kind: 'dashboard'; mutation: string }
  /** moves the app's test clock */
  | { kind: 'advance'; days: number }
  /** opens the address that the last command printed, and pays */
  | { kind: 'pay' }

const BLOCK =
  /^```(\S+)(?: \[([^\]]+)\])?[^\n]*\n([\s\S]*?)^```$|^<!-- (dashboard|advance|clock|pay)(?::? ([\s\S]*?))? ?-->$/gm

export const PROGRAM_LANGUAGES = ['sh', 'bash', 'js', 'ts', 'tsx', 'python', 'go', 'graphql']

/** Blocks of other languages: settings of other programs, and what commands print. */
export const OTHER_LANGUAGES = ['text', 'json', 'yaml', 'ini', 'html']

/** The steps of a page, in order. Throws on a block that would not be run. */
export function stepsOf(path: string): Step[] {
  const steps: Step[] = []
  for (const match of readFileSync(join(ROOT, path), 'utf8').matchAll(BLOCK)) {
    const [, language, name, text = '', directive, argument = ''] = match
    if (directive !== undefined) {
      const step = stepOfComment(directive, argument)
      if (step) steps.push(step)
    } else if (name === 'output') {
      const shell = steps.at(-1)
      if (shell?.kind !== 'shell' || shell.output !== null)
        throw new Error(`${path}: an output that follows no command: ${text}`)
      shell.output = text
    } else if (language === 'sh') steps.push({ kind: 'shell', text, output: null })
    else if (language === 'graphql') steps.push({ kind: 'graphql', text })
    else if (name !== undefined) steps.push({ kind: 'file', name, text })
    else if (PROGRAM_LANGUAGES.includes(language ?? ''))
      throw new Error(`${path}: a program without the name of its file: ${text}`)
  }
  return steps
}

function stepOfComment(directive: string, argument: string): Step | null {
  if (directive === 'dashboard') return { kind: 'dashboard', mutation: argument }
  if (directive === 'pay') return { kind: 'pay' }
  if (directive === 'advance') return { kind: 'advance', days: Number.parseInt(argument, 10) }
  return null
}

/** Whether a page says that its app has a test clock. */
export const hasTestClock = (path: string): boolean =>
  readFileSync(join(ROOT, path), 'utf8').includes('<!-- clock: ')
