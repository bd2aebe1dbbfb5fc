import type { Explanation } from './explained.ts'
import type { Finding } from './findings.ts'
import { type Mutant, shown } from './mutant.ts'
import { FOLDERS } from './options.ts'

export interface Figures {
  /** of all files, also of those that were not looked at */
  possible: Map<string, number>
  /** how many of them some test comes past */
  reached: Map<string, number>
  findings: { finding: Finding; explanation: Explanation | null }[]
  /** all that have survived some run, and may */
  explained: { mutant: Mutant; why: string }[]
  seed: number
}

const folderOf = (path: string): string => path.split('/')[2] ?? ''

export function markdown({ possible, reached, findings, explained, seed }: Figures): string {
  const rows = FOLDERS.map((folder) => {
    const own = findings.filter(({ finding }) => folderOf(finding.mutant.path) === folder)
    const sumOf = (counts: Map<string, number>) =>
      [...counts].reduce((sum, [path, count]) => sum + (folderOf(path) === folder ? count : 0), 0)
    const [total, passed] = [sumOf(possible), sumOf(reached)]
    const share = `${passed} (${((100 * passed) / total).toFixed(1)} %)`
    const timedOut = own.filter(({ finding }) => finding.verdict === 'timed out').length
    const survivors = own.filter(({ finding }) => finding.verdict === 'survived')
    const accounted = survivors.filter(({ explanation }) => explanation !== null).length
    const killed = own.length - timedOut - survivors.length
    const counted = own.length - accounted
    const score = counted === 0 ? '–' : `${((100 * (killed + timedOut)) / counted).toFixed(1)} %`
    return `| ${folder} | ${total} | ${share} | ${own.length} | ${killed} | ${timedOut} | ${accounted} | ${survivors.length - accounted} | ${score} |`
  })
  const left = findings
    .filter(({ finding, explanation }) => finding.verdict === 'survived' && !explanation)
    .map(({ finding: { mutant } }) => ({ mutant, why: null }))
  return `# Mutants

Written by \`npm run mutants\` (the last run with seed ${seed}). It changes one thing at a time in the sources: a
condition, a comparison, a bound, a number, a statement or option that is left out, a predicate of an SQL statement. Then
it runs the tests that look at that file. A mutant that no test notices has survived; one that never comes to an end
counts as noticed.

Left out are the migrations and \`domain/limits.ts\`, whose numbers were chosen: where each of them is enforced is looked at
like everything else.

Where fewer were tried than are possible, those were drawn at random. A mutant is tried by the tests that reach it, for 30
seconds of tests at most, and one that has survived before for five minutes. Tests in a browser,
and those that start the service as a process of its own, are not used.

| folder | possible | reached | tried | killed | timed out | survived, explained | survived | score |
|---|---|---|---|---|---|---|---|---|
${rows.join('\n')}

Reached are those that some test comes past, which was found out for all of them. The score is the share of those tried that were
noticed, without the explained ones. Survivors get a test and are tried again, so the score of a sample is better than that of what
was not tried yet.

What no test reaches in \`store/\` and \`operations/\` is mostly for starts, replicas, upkeep and cells, which \`npm run test:long\` tries in
processes of their own.

## Survivors

${left.length === 0 ? 'None.' : list(left)}

## Explained

These have survived this run or an earlier one, and may.

${explained.length === 0 ? 'None.' : list(explained)}
`
}

function list(rows: { mutant: Mutant; why: string | null }[]): string {
  const sorted = rows.toSorted(
    (a, b) => a.mutant.path.localeCompare(b.mutant.path) || a.mutant.start - b.mutant.start,
  )
  const lines: string[] = []
  let before = ''
  for (const { mutant, why } of sorted) {
    const { path, line, was, becomes } = mutant
    if (path !== before) lines.push(`${before === '' ? '' : '\n'}\`${path}\`\n`)
    before = path
    const change = `line ${line}: ${code(was)} → ${shown(becomes) === '' ? 'nothing' : code(becomes)}`
    lines.push(`- ${change}${why === null ? '' : `: ${why}`}`)
  }
  return lines.join('\n')
}

function code(text: string): string {
  const short = shown(text)
  const cut = short.length > 90 ? `${short.slice(0, 87)}…` : short
  return cut.includes('`') ? `\`\` ${cut} \`\`` : `\`${cut}\``
}
