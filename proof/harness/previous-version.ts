import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, symlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { Trial } from '../trial.ts'
import { buildService, ROOT } from './build.ts'

const run = promisify(execFile)
/** How far back "the previous version" is where no tag says so. */
const COMMITS_AGO = 20

/** The commit to start with; null if the history does not have it. */
export async function previousCommit(ref: string | null): Promise<string | null> {
  const git = (...args: string[]) =>
    run('git', args, { cwd: ROOT }).then(
      ({ stdout }) => stdout.trim(),
      () => null,
    )
  if (ref !== null) return git('rev-parse', '--short', '--verify', `${ref}^{commit}`)
  const tag = await git('describe', '--tags', '--abbrev=0')
  return git('rev-parse', '--short', '--verify', `${tag ?? `HEAD~${COMMITS_AGO}`}^{commit}`)
}

/** Builds the service of that commit, from its own sources and with the packages that are installed. */
export async function buildPrevious(trial: Trial, commit: string): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'tollgate-proof-previous-'))
  trial.atEnd(() => rm(folder, { recursive: true, force: true }))
  const archive = spawn('git', ['archive', commit], { cwd: ROOT, stdio: ['ignore', 'pipe', 'ignore'] })
  const unpack = spawn('tar', ['-x', '-C', folder], { stdio: [archive.stdout, 'ignore', 'ignore'] })
  const [[code]] = await Promise.all([once(unpack, 'exit'), once(archive, 'exit')])
  if (code !== 0) throw new Error(`the sources of ${commit} could not be unpacked`)
  await symlink(join(ROOT, 'node_modules'), join(folder, 'node_modules'))
  return buildService('previous', [], folder)
}
