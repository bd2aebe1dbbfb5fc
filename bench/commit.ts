import { execFile } from 'node:child_process'
import { promisify } from 'node:util'

/** The commit that a report is about. */
export interface Commit {
  hash: string
  /** whether files differ from it */
  dirty: boolean
}

/**
 * The commit that is checked out. Everything below docs/ is left out of the comparison: reports are written there. Throws
 * outside a Git repository, where a report could not name a commit that exists.
 */
export async function checkedOut(root: string): Promise<Commit> {
  const git = async (...args: string[]) =>
    (await promisify(execFile)('git', args, { cwd: root })).stdout.trim()
  const hash = await git('rev-parse', '--verify', 'HEAD').catch(() => {
    throw new Error(
      `a report names a commit, and ${root} is not in a Git repository with one: use --no-write`,
    )
  })
  const changes = await git('status', '--porcelain', '--', '.', ':(exclude)docs')
  return { hash, dirty: changes !== '' }
}

/** Throws when the sources have changed since a run began: its report would be about neither version. */
export async function checkUnchanged(root: string, since: Commit): Promise<void> {
  const { hash, dirty } = await checkedOut(root)
  if (hash !== since.hash || dirty !== since.dirty)
    throw new Error('the sources changed during the run: no report was written')
}

export const commitText = ({ hash, dirty }: Commit): string =>
  dirty ? `${hash} with uncommitted changes` : hash
