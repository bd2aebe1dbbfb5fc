import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, readdir, rm, symlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

export const run = promisify(execFile)
export const SDK = fileURLToPath(new URL('../..', import.meta.url))
export const ROOT = fileURLToPath(new URL('../../..', import.meta.url))

/** A project that has the packed package installed, and those that it may be used with. */
export interface Project {
  folder: string
  tarball: string
  /** where the package is installed */
  installed: string
  remove(): Promise<void>
}

const PEERS = ['react', 'react-dom', 'scheduler', '@openfeature', '@types']

export async function projectWithPackage(): Promise<Project> {
  const folder = await mkdtemp(join(tmpdir(), 'tollgate-project-'))
  await run(process.execPath, ['build.mjs', '--if-stale'], { cwd: SDK })
  await run('npm', ['pack', '--silent', '--ignore-scripts', '--pack-destination', folder], { cwd: SDK })
  const tarball = join(folder, (await readdir(folder)).find((name) => name.endsWith('.tgz')) ?? '')
  const installed = join(folder, 'node_modules/@tollgate/sdk')
  await mkdir(installed, { recursive: true })
  await run('tar', ['-xzf', tarball, '-C', installed, '--strip-components=1'])
  for (const name of PEERS)
    await symlink(join(ROOT, 'node_modules', name), join(folder, 'node_modules', name))
  return { folder, tarball, installed, remove: () => rm(folder, { recursive: true, force: true }) }
}
