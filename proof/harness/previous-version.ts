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
/** Databases of versions without it are refused. */
const BASELINE = 'server/src/store/schema/migrations/001-baseline.sql'

/** The commit to start with; null if the history does not have it. */
export async function previousCommit(ref: string | null): Promise<string | null> {
  const git = (...args: string[]) =>
    run('git', args, { cwd: ROOT }).then(
      ({ stdout }) => stdout.trim(),
      () => null,
    )
  const chosen = ref ?? (await git('describe', '--tags', '--abbrev=0')) ?? `HEAD~${COMMITS_AGO}`
  const commit = await git('rev-parse', '--short', '--verify', `${chosen}^{commit}`)
  if (commit !== null && (await git('cat-file', '-e', `${commit}:${BASELINE}`)) !== null) return commit
  // Otherwise the first version that has it, unless another was asked for.
  const added = await git('log', '--diff-filter=A', '--format=%h', '--reverse', '--', BASELINE)
  return ref === null ? added?.split('\n')[0] || null : null
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
