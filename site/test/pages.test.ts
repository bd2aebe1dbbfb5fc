import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import {
  isProgramPage,
  OTHER_LANGUAGES,
  PROGRAM_LANGUAGES,
  stepsOf,
} from '../../server/test/harness/page-programs.ts'
import { anchorOf } from '../links.ts'
import { pageOf, ROOT, targetOf, writtenPages } from '../pages.ts'
import { generatedPages } from '../reference/generated-pages.ts'
import { linkOf, SIDEBAR, sidebarOf } from '../sidebar.ts'

const written = writtenPages()
const all = [...written, ...generatedPages()].map(({ page }) => page)
const listed = SIDEBAR.flatMap(({ entries }) => entries.map(({ page }) => page))

describe('the pages of the documentation', () => {
  it('are all in the menu, once; only the decision records have an index of their own', () => {
    const unlisted = all.filter((page) => !listed.includes(page))
    expect(unlisted.filter((page) => !/^decisions\/|^index\.md$/.test(page))).toEqual([])
    expect(listed.length).toBe(new Set(listed).size)
    expect(new Set(all).size).toBe(all.length)
  })

  it('are left out of the menu until they exist', () => {
    expect(sidebarOf(new Set(['sdk.md']))).toEqual([
      { text: 'Reference', items: [{ text: 'SDK', link: '/sdk' }] },
    ])
  })

  it.each([
    ['guides/trials.md', '/guides/trials'],
    ['operations.md#secrets', '/operations#secrets'],
    ['decisions/index.md', '/decisions/'],
    ['index.md', '/'],
  ])('%s is at %s', (page, link) => {
    expect(linkOf(page)).toBe(link)
  })

  it.each([
    ['docs/guides/trials.md', '../billing.md', 'billing.md'],
    ['docs/guides/trials.md', '../../README.md', 'index.md'],
    ['docs/billing.md', 'decisions/README.md', 'decisions/index.md'],
    ['docs/start/curl.md', '../../server/schema/admin.graphql', 'reference/admin-api.md'],
    ['ARCHITECTURE.md', 'docs/proof.md', 'proof.md'],
    ['docs/operations.md', '../deploy/README.md', 'deploy.md'],
    ['docs/proof.md', '../proof/run.ts', null],
  ])('a link from %s to %s leads to %s', (source, href, page) => {
    expect(pageOf(targetOf(source, href), written)).toBe(page)
  })

  it.each([
    ['Read a whole list', 'read-a-whole-list'],
    ['A page: `/browser`', 'a-page-browser'],
    ['Übergang: 2^53-1', 'übergang-253-1'],
  ])('the anchor of "%s" is that of GitHub', (heading, anchor) => {
    expect(anchorOf(heading)).toBe(anchor)
  })
})

describe('the code of the documentation', () => {
  const docs = written.map(({ source }) => source)

  it('is in a language that a test knows how to run, or in one that is not run', () => {
    const strange = docs.flatMap((source) =>
      [...readFileSync(join(ROOT, source), 'utf8').matchAll(/^ *```(\S+).*\n[\s\S]*?^ *```$/gm)]
        .map(([, language = '']) => language)
        .filter((language) => ![...PROGRAM_LANGUAGES, ...OTHER_LANGUAGES].includes(language))
        .map((language) => `${source}: ${language}`),
    )
    expect(strange).toEqual([])
  })

  it('is fenced: indented code has no language, and is wider than a phone', () => {
    const indented = docs.flatMap((source) => {
      const prose = readFileSync(join(ROOT, source), 'utf8').replaceAll(/^( *```).*\n[\s\S]*?^\1$/gm, '')
      return [...prose.matchAll(/^(?! *(?:[-*]|\d+\.) | {4}).*\n\n {4}(?=\S)(?![-*] |\d+\. ).*/gm)].map(
        ([code]) => `${source}: ${code.trim()}`,
      )
    })
    expect(indented).toEqual([])
  })

  it('is run by one of three tests', () => {
    /** Shell commands: server/test/tools/commands.test.ts. Fragments of the SDK: sdk/test/fragments.test.ts. */
    const elsewhere = (source: string, language: string) =>
      language === 'sh' || (source === 'docs/sdk.md' && ['ts', 'tsx'].includes(language))
    const left = docs
      .filter((source) => !isProgramPage(source))
      .flatMap((source) =>
        [...readFileSync(join(ROOT, source), 'utf8').matchAll(/^ *```(\S+).*\n[\s\S]*?^ *```$/gm)]
          .filter(([, language = '']) => PROGRAM_LANGUAGES.includes(language) && !elsewhere(source, language))
          .map(([block]) => `${source}: ${block}`),
      )
    expect(left).toEqual([])
    for (const source of docs.filter(isProgramPage)) expect(() => stepsOf(source)).not.toThrow()
  })
})
