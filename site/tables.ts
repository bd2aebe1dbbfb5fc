import type { MarkdownRenderer } from 'vitepress'

type Token = ReturnType<MarkdownRenderer['parse']>[number]

/**
 * Markdown has no table without a header. Where a table has none to show, a header of empty cells is left out, and a single
 * empty one becomes an ordinary cell: a screen reader would announce it as the name of its column.
 */
export function emptyHeaders(md: MarkdownRenderer): void {
  md.core.ruler.push('empty-headers', (state) => {
    state.tokens = withoutEmptyHeaders(state.tokens)
  })
}

function withoutEmptyHeaders(tokens: Token[]): Token[] {
  const kept: Token[] = []
  for (let i = 0; i < tokens.length; i++) {
    const token = tokens[i] as Token
    if (token.type !== 'thead_open') {
      kept.push(token)
      continue
    }
    const end = tokens.findIndex(({ type }, at) => at > i && type === 'thead_close')
    const header = tokens.slice(i, end + 1)
    i = end
    if (header.some(({ type, content }) => type === 'inline' && content !== '')) kept.push(...named(header))
  }
  return kept
}

function named(header: Token[]): Token[] {
  header.forEach((token, at) => {
    if (token.type === 'inline' && token.content === '')
      for (const cell of [header[at - 1], header[at + 1]]) if (cell) cell.tag = 'td'
  })
  return header
}
