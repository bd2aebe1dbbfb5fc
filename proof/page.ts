/** What docs/proof.md says of each scenario, as lines: a run writes anew only those of the scenarios that it ran. */
export interface Page {
  sound: ReadonlyMap<string, string>
  notes: ReadonlyMap<string, string>
  broken: ReadonlyMap<string, string>
}

export const SOUND = [
  'scenario',
  'done',
  'of a full run',
  'found',
  'slowest answer',
  'back after (median, worst)',
  'verdict',
  'run',
] as const
export const BROKEN = ['scenario', 'broken how', 'noticed by', 'verdict', 'run'] as const

export const rowOf = (cells: readonly string[]): string => `| ${cells.map(escaped).join(' | ')} |`

export const noteOf = (name: string, text: string): string => `- **${name}**: ${text}`

/** Rows of a table with other columns are dropped. */
export function readPage(text: string): Page {
  const lines = text.split('\n')
  return {
    sound: byName(/^\| ([\w-]+) \|/, below(lines, rowOf(SOUND))),
    // The page begins with a list of facts in the same form.
    notes: byName(/^- \*\*([\w-]+)\*\*: /, below(lines, rowOf(SOUND))),
    broken: byName(/^\| ([\w-]+) \|/, below(lines, rowOf(BROKEN))),
  }
}

/** What follows a heading of a table, up to the next section. */
function below(lines: readonly string[], heading: string): string[] {
  const begins = lines.indexOf(heading)
  if (begins === -1) return []
  const rest = lines.slice(begins + 2)
  const ends = rest.findIndex((line) => line.startsWith('## '))
  return rest.slice(0, ends === -1 ? undefined : ends)
}

const byName = (pattern: RegExp, lines: readonly string[]): Map<string, string> =>
  new Map(
    lines.flatMap((line): [string, string][] => {
      const name = pattern.exec(line)?.[1]
      return name === undefined ? [] : [[name, line]]
    }),
  )

const escaped = (text: string): string => text.replaceAll('|', '\\|').replace(/[\r\n]+/g, ' ')
