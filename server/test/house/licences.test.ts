import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'

const ROOT = fileURLToPath(new URL('../../..', import.meta.url))
const { refusedIn } = (await import(join(ROOT, 'scripts/licences.mjs'))) as {
  refusedIn(root: string): string[]
}

let folder: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tollgate-licences-'))
})
afterEach(() => rm(folder, { recursive: true, force: true }))

type Entry = {
  license?: string
  dev?: boolean
  link?: boolean
  dependencies?: Record<string, string>
  devDependencies?: Record<string, string>
}

async function refused(packages: Record<string, Entry>): Promise<string[]> {
  const versioned = Object.entries(packages).map(([path, entry]) => [path, { version: '1.0.0', ...entry }])
  await writeFile(
    join(folder, 'package-lock.json'),
    JSON.stringify({ packages: Object.fromEntries(versioned) }),
  )
  return refusedIn(folder)
}

describe('licences of what ships', () => {
  it('are all allowed', () => {
    expect(refusedIn(ROOT)).toEqual([])
  })

  it('one that is not allowed is named, wherever it lies', async () => {
    expect(
      await refused({
        '': {},
        server: { license: 'Apache-2.0' },
        'node_modules/free': { license: 'MIT' },
        'node_modules/copyleft': { license: 'AGPL-3.0-only' },
        'node_modules/free/node_modules/@scope/deep': { license: 'GPL-3.0' },
        'node_modules/tool': { license: 'GPL-3.0', dev: true },
        'node_modules/own': { link: true },
      }),
    ).toEqual(['copyleft@1.0.0: AGPL-3.0-only', '@scope/deep@1.0.0: GPL-3.0'])
  })

  it('what is built into the server counts, with its own dependencies', async () => {
    expect(
      await refused({
        server: { devDependencies: { bundled: '1.0.0' } },
        'node_modules/bundled': { license: 'MIT', dev: true, dependencies: { deep: '1.0.0', own: '1.0.0' } },
        'node_modules/bundled/node_modules/own': { license: 'AGPL-3.0-only', dev: true },
        'node_modules/deep': { license: 'GPL-3.0', dev: true },
        'node_modules/own': { license: 'SSPL-1.0', dev: true },
      }),
    ).toEqual(['own@1.0.0: AGPL-3.0-only', 'deep@1.0.0: GPL-3.0'])
  })

  it('what is built into the pages counts, the font among it', async () => {
    expect(
      await refused({
        dashboard: { devDependencies: { widgets: '1.0.0', font: '1.0.0' } },
        'node_modules/widgets': { license: 'GPL-3.0', dev: true },
        'node_modules/font': { license: 'OFL-1.1', dev: true },
      }),
    ).toEqual(['widgets@1.0.0: GPL-3.0'])
  })

  it.each([
    ['(MIT OR GPL-3.0)', true],
    ['MIT AND ISC', true],
    ['MIT AND GPL-3.0', false],
    ['(MIT OR (GPL-3.0 AND ISC))', false],
    ['SEE LICENSE IN LICENSE', false],
    ['UNLICENSED', false],
  ])('%s: allowed is %s', async (license, allowed) => {
    expect((await refused({ 'node_modules/one': { license } })).length === 0).toBe(allowed)
  })

  it('what the lockfile does not say, the package does; one that says nothing is refused', async () => {
    await mkdir(join(folder, 'node_modules/stated'), { recursive: true })
    await mkdir(join(folder, 'node_modules/silent'), { recursive: true })
    await writeFile(join(folder, 'node_modules/stated/package.json'), '{"license":"ISC"}')
    await writeFile(join(folder, 'node_modules/silent/package.json'), '{}')
    expect(
      await refused({ 'node_modules/stated': {}, 'node_modules/silent': {}, 'node_modules/gone': {} }),
    ).toEqual(['silent@1.0.0: none', 'gone@1.0.0: unknown'])
  })
})
