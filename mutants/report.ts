import { type Commit, commitText } from '../bench/commit.ts'
import type { Finding } from './findings.ts'
import { type Mutant, shown } from './mutant.ts'
import { FOLDERS, type Options } from './options.ts'

export interface Figures {
  commit: Commit
  options: Options
  seconds: number
  /** the number of mutants of each file */
  possible: Map<string, number>
  /** of this run */
  findings: { finding: Finding; explained: boolean }[]
}

const folderOf = (path: string): string => path.split('/')[2] ?? ''
const number = (value: number): string => value.toLocaleString('en')

/** docs/mutants.md: this run, and nothing of any other. */
export function markdown({ commit, options, seconds, possible, findings }: Figures): string {
  const rows = FOLDERS.map((folder) => {
    const total = [...possible].reduce(
      (sum, [path, count]) => sum + (folderOf(path) === folder ? count : 0),
      0,
    )
    const own = findings.filter(({ finding }) => folderOf(finding.mutant.path) === folder)
    const timedOut = own.filter(({ finding }) => finding.verdict === 'timed out').length
    const survivors = own.filter(({ finding }) => finding.verdict === 'survived')
    const explained = survivors.filter((one) => one.explained).length
    const result = `${number(own.length)} of ${number(total)} tried, ${number(survivors.length)} survived`
    const killed = own.length - timedOut - survivors.length
    return `| ${[folder, result, ...[killed, timedOut, explained, survivors.length - explained].map(number)].join(' | ')} |`
  })
  const left = findings
    .filter(({ finding, explained }) => finding.verdict === 'survived' && !explained)
    .map(({ finding }) => finding.mutant)
  return `# Mutants

Written by \`npm run mutants\`: one run of one commit. It makes one small change at a time in the sources (a condition, a
comparison, a number, an omitted statement or option, a predicate of an SQL statement) and runs the tests that reach it. A
mutant that no test notices has survived. The mutants are tried in random order, so those tried are a sample of all, and
say nothing certain about the rest.

${factsOf(commit, options, seconds)
  .map(([name, value]) => `- **${name}**: ${value}`)
  .join('\n')}

| folder | result | killed | timed out | survived, explained | survived, unexplained |
|---|---|---|---|---|---|
${rows.join('\n')}

A mutant is tried with up to 30 seconds of tests. One that makes a test hang has timed out, which counts as noticed. Tests in a
browser and tests that start the service as a separate process are not used. Migrations and \`domain/limits.ts\` are not
mutated. Survivors that make no difference anybody could observe are explained in \`mutants/explained.json\`.

## Unexplained survivors

${left.length === 0 ? 'None of those tried.' : list(left)}
`
}

function factsOf(commit: Commit, options: Options, seconds: number): [name: string, value: string][] {
  const { only, like, unit, with: prefix } = options
  const files = only.length === 0 ? 'all folders' : only.map((path) => `\`${path}\``).join(', ')
  const tests = unit ? 'tests without a database' : 'all tests'
  const reached = unit || prefix !== '' ? '; only mutants that they reach' : ''
  return [
    ['commit', commitText(commit)],
    ['date', new Date().toISOString().slice(0, 16).replace('T', ' ')],
    ['seed', String(options.seed)],
    ['duration', `${seconds.toFixed(0)} s`],
    ['sources', like === '' ? files : `${files}; only code that contains \`${like}\``],
    ['tests', `${prefix === '' ? tests : `${tests} below \`${prefix}\``}${reached}`],
  ]
}

function list(mutants: readonly Mutant[]): string {
  const sorted = mutants.toSorted((a, b) => a.path.localeCompare(b.path) || a.start - b.start)
  const lines: string[] = []
  let before = ''
  for (const { path, line, was, becomes } of sorted) {
    if (path !== before) lines.push(`${before === '' ? '' : '\n'}\`${path}\`\n`)
    before = path
    lines.push(`- line ${line}: ${code(was)} → ${shown(becomes) === '' ? 'nothing' : code(becomes)}`)
  }
  return lines.join('\n')
}

function code(text: string): string {
  const short = shown(text)
  const cut = short.length > 90 ? `${short.slice(0, 87)}…` : short
  return cut.includes('`') ? `\`\` ${cut} \`\`` : `\`${cut}\``
}
