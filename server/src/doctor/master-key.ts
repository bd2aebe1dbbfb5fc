import { readFile, stat } from 'node:fs/promises'
import { StartError } from '../domain/errors.ts'
import type { Config } from '../settings/config.ts'
import { parseMasterKeys } from '../store/secrets/keyring.ts'
import { masterKeyIn } from '../store/secrets/master-key.ts'
import { ok, problem, type Result, warning } from './finding.ts'

const READABLE_BY_OTHERS = 0o077
const READABLE_BY_ALL = 0o007

/** Whether there is a key, in the right format, that others cannot read. */
export async function checkMasterKey(config: Config): Promise<Result> {
  const { masterKey, masterKeyFile, databaseUrl, dataDir } = config
  // Its format has been checked with the other settings.
  if (masterKey !== null) return ok('TOLLGATE_MASTER_KEY is set.')
  if (masterKeyFile !== null) return checkFile(masterKeyFile, READABLE_BY_ALL, 'TOLLGATE_MASTER_KEY_FILE')
  if (databaseUrl !== null)
    return warning(
      'There is no master key, so secrets of payment providers cannot be stored, and token keys are not encrypted.',
      'Set TOLLGATE_MASTER_KEY_FILE to a file made with openssl rand -base64 32, and keep a copy of it elsewhere.',
    )
  const file = masterKeyIn(dataDir)
  const exists = await stat(file).then(
    () => true,
    (error: NodeJS.ErrnoException) => error.code !== 'ENOENT' && Promise.reject(error),
  )
  return exists
    ? checkFile(file, READABLE_BY_OTHERS, file)
    : ok('There is no master key yet; the first start creates one.')
}

/** A key that a secret store mounts may be readable by a group. */
async function checkFile(file: string, forbidden: number, source: string): Promise<Result> {
  let text: string
  try {
    text = await readFile(file, 'utf8')
  } catch (error) {
    return problem(
      `The master key in ${file} cannot be read (${(error as NodeJS.ErrnoException).code}).`,
      `Check ${source}, and make the file readable by the user who runs the service.`,
    )
  }
  try {
    const keys = parseMasterKeys(text, source)
    const { mode } = await stat(file)
    if (mode & forbidden)
      return warning(`Other users may read the master key in ${file}.`, `chmod 600 ${file}`)
    return ok(`${file} contains ${keys.length === 1 ? 'a key' : `${keys.length} keys`}.`)
  } catch (error) {
    if (!(error instanceof StartError)) throw error
    return problem(error.message, null)
  }
}
