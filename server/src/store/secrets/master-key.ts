import { randomBytes } from 'node:crypto'
import { open, readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { StartError } from '../../domain/errors.ts'
import type { HomeDb } from '../connection/places.ts'
import { Keyring, parseMasterKeys } from './keyring.ts'
import { hasSealedSecrets } from './secrets.ts'

interface MasterKeySettings {
  masterKey: string | null
  masterKeyFile: string | null
  /** where to generate a key if none is set; null: nowhere, since other machines would not have it */
  madeIn: string | null
}

/** The master keys of this installation; generated at the first start on the embedded database. */
export async function openKeyring(
  db: HomeDb,
  { masterKey, masterKeyFile, madeIn }: MasterKeySettings,
  log: (message: string) => void,
): Promise<Keyring> {
  if (masterKey !== null) return new Keyring(parseMasterKeys(masterKey, 'TOLLGATE_MASTER_KEY'))
  if (masterKeyFile !== null) return fromFile(masterKeyFile, 'TOLLGATE_MASTER_KEY_FILE')
  if (madeIn === null) return new Keyring([])
  const file = masterKeyIn(madeIn)
  if (await exists(file)) return fromFile(file, file)
  // A new key beside secrets sealed with another one would only hide that the other one is missing.
  if (await hasSealedSecrets(db)) return new Keyring([])
  await make(file)
  log(
    `A master key for encrypting secrets was created in ${file}. Keep a copy of it, separate from database backups.`,
  )
  return fromFile(file, file)
}

export const masterKeyIn = (dataDir: string): string => join(dataDir, 'master-key')

async function fromFile(file: string, source: string): Promise<Keyring> {
  const text = await readFile(file, 'utf8').catch((error) => {
    throw new StartError(`The master key file ${file} cannot be read (${error.code}). Check ${source}.`)
  })
  return new Keyring(parseMasterKeys(text, source))
}

const exists = (file: string) =>
  stat(file).then(
    () => true,
    (error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return false
      throw error
    },
  )

async function make(file: string): Promise<void> {
  const handle = await open(file, 'wx', 0o600)
  try {
    await handle.writeFile(`${randomBytes(32).toString('base64')}\n`)
    await handle.sync()
  } finally {
    await handle.close()
  }
}
