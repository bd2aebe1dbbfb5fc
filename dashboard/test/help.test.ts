import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { SIDEBAR } from '../../site/sidebar.ts'
import { HELP, WHATS_NEW } from '../src/shell/help.ts'

const PAGES = new Set(
  SIDEBAR.flatMap(({ entries }) => entries).map(({ page }) => page.replace(/(#.*|\.md)/g, '')),
)

it('gap: help: every page links to a page of the documentation that exists', () => {
  const routes = readFileSync(new URL('../src/routes.tsx', import.meta.url), 'utf8')
  const inside = routes.slice(routes.indexOf('export const start'))
  const ofApp = [...inside.matchAll(/getParentRoute: \(\) => app,\s+path: '([^']+)'/g)].map(
    ([, path = '']) => (path === '/' ? '/apps/$app' : `/apps/$app/${path}`),
  )
  const others = [...inside.matchAll(/getParentRoute: \(\) => inside,\s+path: '([^']+)'/g)]
    .map(([, path]) => `/${path}`)
    .filter((path) => path !== '//' && path !== '/apps/$app')
  expect(ofApp.length).toBeGreaterThan(15)
  expect(Object.keys(HELP).sort()).toEqual([...ofApp, ...others].sort())
  for (const page of [...Object.values(HELP), WHATS_NEW.replace('/docs/', '')])
    expect(PAGES, page).toContain(page.replace(/#.*/, ''))
})
