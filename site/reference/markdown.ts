/** Text as it may stand in a cell of a table or in a paragraph: VitePress reads tags and braces as a template. */
export const text = (value: string): string =>
  value
    .replaceAll(/\s*\n\s*/g, ' ')
    .split(/(`[^`]*`)/)
    .map((part) => (part.startsWith('`') ? part : escaped(part)))
    .join('')
    .replaceAll('|', '\\|')
    .trim()

const escaped = (part: string): string =>
  part.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('{{', '&#123;&#123;')

export const code = (value: string): string => `\`${value.replaceAll('|', '\\|')}\``

/** A table without the columns that are empty in every row. */
export function table(columns: string[], rows: string[][]): string {
  if (rows.length === 0) return ''
  const used = columns.map((_, i) => rows.some((row) => row[i] !== ''))
  const line = (cells: string[]) => `| ${cells.filter((_, i) => used[i]).join(' | ')} |`
  return [line(columns), line(columns.map(() => '---')), ...rows.map(line)].join('\n')
}

/** Blocks with one empty line between them. */
export const blocks = (...parts: string[]): string => `${parts.filter((part) => part !== '').join('\n\n')}\n`
