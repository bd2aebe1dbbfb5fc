import type { MarkdownRenderer } from 'vitepress'
import { type Page, pageOf, targetOf } from './pages.ts'

type Token = ReturnType<MarkdownRenderer['parse']>[number]

/**
 * Links between files of the repository become links between pages. A link to a file that the site does not have, such as
 * a source file, keeps its text only.
 */
export function repositoryLinks(md: MarkdownRenderer, pages: Page[]): void {
  md.core.ruler.push('repository-links', (state) => {
    const source = pages.find(({ page }) => page === state.env.relativePath)?.source
    if (source === undefined) return
    for (const token of state.tokens)
      if (token.children) token.children = linked(token.children, source, pages)
  })
}

function linked(tokens: Token[], source: string, pages: Page[]): Token[] {
  let dropped = false
  return tokens.filter((token) => {
    if (token.type === 'link_close' && dropped) {
      dropped = false
      return false
    }
    if (token.type !== 'link_open') return true
    const href = token.attrGet('href') ?? ''
    if (/^([a-z]+:|\/|#)/i.test(href)) return true
    const [path = '', fragment] = href.split('#')
    const page = pageOf(targetOf(source, path), pages)
    dropped = page === null
    if (page !== null) token.attrSet('href', `/${page}${fragment ? `#${fragment}` : ''}`)
    return !dropped
  })
}

/** The anchor that GitHub gives a heading, so that links work there and here. */
export const anchorOf = (heading: string): string =>
  heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N}_ -]/gu, '')
    .replaceAll(' ', '-')
