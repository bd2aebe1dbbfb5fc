import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { Page } from 'playwright-core'

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

/**
 * What axe finds wrong with a page, one line each, by all its rules or by these, once no colour is on its way to another.
 * Its script goes past the page's policy. GraphiQL's editor is another project's: its labels and colours are not ours to
 * choose, and only what is around it is looked at.
 */
export async function violations(page: Page, rules?: string[]): Promise<string[]> {
  if ((await page.evaluate('typeof axe')) === 'undefined') await page.evaluate(AXE)
  await page.evaluate('Promise.allSettled(document.getAnimations().map(({ finished }) => finished))')
  const options = { resultTypes: ['violations'], ...(rules && { runOnly: rules }) }
  const found = await page.evaluate(
    `axe.run({ exclude: ['.graphiql-container'] }, ${JSON.stringify(options)}).then(({ violations }) =>
      violations.flatMap(({ id, nodes }) => nodes.map(({ target, failureSummary }) =>
        id + ': ' + target.join(' ') + ': ' + failureSummary.replaceAll('\\n', ' '))))`,
  )
  return found as string[]
}
