import { execFile } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { describe, expect, it } from 'vitest'

const ROOT = fileURLToPath(new URL('../../..', import.meta.url))

interface Row {
  attack: string
  file: string
  title: string
}

/** The rows of the threat model: attack, what happens, and the test's file and title. */
function threats(): Row[] {
  const text = readFileSync(join(ROOT, 'SECURITY.md'), 'utf8')
  const [, table = ''] = /## Threat model\n([\s\S]*?)\n## /.exec(text) ?? []
  return table
    .split('\n')
    .filter((line) => line.startsWith('| ') && !line.startsWith('| attack '))
    .map((line) => {
      const [attack = '', , test = ''] = line.replace(/^\| | \|$/g, '').split(' | ')
      const [, file = '', title = ''] = /^`([^`]+)`: (.+)$/.exec(test) ?? []
      return { attack, file, title }
    })
}

/** Titles as they stand in the source of a test file. */
function titlesIn(file: string): string[] {
  const text = readFileSync(join(ROOT, file), 'utf8')
  return [...text.matchAll(/(?:\bit\(|\)\()\s*(['"`])((?:(?!\1).)+)\1,/g)].map(([, , title = '']) => title)
}

describe('SECURITY.md', () => {
  it('has a threat model, each row with an attack and a test', () => {
    expect(threats().length).toBeGreaterThan(20)
    expect(threats().filter(({ attack, file, title }) => !attack || !file || !title)).toEqual([])
  })

  it('names only tests that exist', () => {
    const missing = threats().filter(
      ({ file, title }) =>
        !existsSync(join(ROOT, file)) || !titlesIn(file).some((found) => found.includes(title)),
    )
    expect(missing).toEqual([])
  })
})

describe('npm run sbom', () => {
  it('lists what ships, without a network', async () => {
    const { stdout } = await promisify(execFile)('npm', ['run', '--silent', '--offline', 'sbom'], {
      cwd: ROOT,
      maxBuffer: 64 * 1024 * 1024,
    })
    const { bomFormat, components } = JSON.parse(stdout)
    const names: string[] = components.map((one: { name: string }) => one.name)
    expect(bomFormat).toBe('CycloneDX')
    // graphql is one that a development tool needs too.
    expect(names).toEqual(expect.arrayContaining(['pg', 'graphql', 'stripe', 'react']))
    expect(names.filter((name) => ['vitest', 'playwright-core', '@biomejs/biome'].includes(name))).toEqual([])
  })
})
