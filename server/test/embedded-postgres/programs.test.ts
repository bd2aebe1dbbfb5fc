import { execFile } from 'node:child_process'
import { cp, lstat, mkdir, readdir, readlink, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { afterEach, describe, expect, it } from 'vitest'
import { StartError } from '../../src/domain/errors.ts'
import { healSymlinks, locateBinaries } from '../../src/embedded-postgres/folders.ts'

import { cleanUp, isRoot, makeFolder, nobody } from '../harness/clusters.ts'

afterEach(cleanUp)

describe('the programs', () => {
  const packageDir = () => {
    const umbrella = createRequire(import.meta.url).resolve('embedded-postgres')
    const name = `@embedded-postgres/${process.platform}-${process.arch}`
    return dirname(dirname(createRequire(umbrella).resolve(name)))
  }

  it('run without the links of the install script, from a folder that only its owner may enter', async () => {
    const folder = await makeFolder()
    const copy = join(folder, 'private', 'package')
    await mkdir(dirname(copy), { mode: 0o700 })
    await cp(packageDir(), copy, {
      recursive: true,
      filter: async (source) => !(await lstat(source)).isSymbolicLink(),
    })
    const account = isRoot ? nobody : undefined
    const locate = () => locateBinaries(account, copy, [join(folder, 'home')])
    const [{ postgres }, other] = await Promise.all([locate(), locate()])
    expect(other.postgres).toBe(postgres)
    expect(postgres.startsWith(join(folder, isRoot ? 'home' : 'private'))).toBe(true)
    const { stdout } = await promisify(execFile)(postgres, ['--version'], { cwd: '/', ...account })
    expect(stdout).toContain('PostgreSQL')
    if (isRoot) expect(await readdir(join(folder, 'home'))).toHaveLength(1)
  })

  it('get relative links, whoever else makes them at the same time', async () => {
    const folder = await makeFolder()
    await mkdir(join(folder, 'native', 'lib'), { recursive: true })
    const links = [{ source: 'native/lib/a.so.1.2', target: 'native/lib/a.so' }]
    await writeFile(join(folder, 'native', 'pg-symlinks.json'), JSON.stringify(links))
    await writeFile(join(folder, 'native', 'lib', 'a.so.1.2'), '')
    await Promise.all([healSymlinks(folder), healSymlinks(folder), healSymlinks(folder)])
    expect(await readlink(join(folder, 'native', 'lib', 'a.so'))).toBe('a.so.1.2')
  })

  it('lack links that cannot be created: says so in one line', async () => {
    const folder = await makeFolder()
    await mkdir(join(folder, 'native'))
    // A missing folder stands in for one that is read-only, which nothing is for root.
    const links = [{ source: 'native/lib/a.so.1.2', target: 'native/lib/a.so' }]
    await writeFile(join(folder, 'native', 'pg-symlinks.json'), JSON.stringify(links))
    await expect(healSymlinks(folder)).rejects.toThrow(StartError)
    await expect(healSymlinks(folder)).rejects.toThrow(/^.*npm rebuild.*$/)
  })
})
