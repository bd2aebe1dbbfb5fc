import { randomBytes } from 'node:crypto'
import { StartError } from '../../domain/errors.ts'
import { type Pool, transaction } from '../connection/database.ts'
import type { HomeDb } from '../connection/places.ts'
import { type Keyring, UnsealError } from './keyring.ts'

const encryptionContext = (name: string) => JSON.stringify(['secret', name])

/** A 256-bit secret, generated once per database on first use. */
export async function secretNamed(db: HomeDb, keyring: Keyring, name: string): Promise<Buffer> {
  await db.query(`insert into secret (name, value) values ($1, $2) on conflict do nothing`, [
    name,
    keyring.seal(encryptionContext(name), randomBytes(32)),
  ])
  const { rows } = await db.query<{ value: Buffer }>(`select value from secret where name = $1`, [name])
  const [found] = rows
  if (!found) throw new Error(`the secret ${name} no longer exists`)
  return keyring.open(encryptionContext(name), found.value)
}

/** Also false for a database without tables. */
export async function hasSealedSecrets(db: HomeDb): Promise<boolean> {
  const { rows: tables } = await db.query<{ found: boolean }>(
    `select to_regclass('secret') is not null as found`,
  )
  if (!tables[0]?.found) return false
  const { rows } = await db.query<{ found: boolean }>(
    `select exists (select from secret where substring(value from 1 for 8) = 'sealed1:'::bytea) as found`,
  )
  return rows[0]?.found ?? false
}

/** Seals everything not yet sealed with the first master key. A wrong key stops the start here. */
export async function sealSecrets(pool: Pool, keyring: Keyring): Promise<void> {
  try {
    await transaction(pool, async (tx) => {
      const { rows } = await tx.query<{ name: string; value: Buffer }>(
        `select name, value from secret order by name for update`,
      )
      for (const { name, value } of rows) {
        const secret = keyring.open(encryptionContext(name), value)
        if (keyring.isCurrent(value)) continue
        await tx.query(`update secret set value = $2 where name = $1`, [
          name,
          keyring.seal(encryptionContext(name), secret),
        ])
      }
    })
  } catch (error) {
    if (!(error instanceof UnsealError)) throw error
    throw new StartError(
      error.missing
        ? `The secrets in the database are encrypted with the master key "${error.keyId}", which is not configured. Set TOLLGATE_MASTER_KEY or TOLLGATE_MASTER_KEY_FILE.`
        : `The master key "${error.keyId}" does not decrypt the secrets in the database. Check TOLLGATE_MASTER_KEY or TOLLGATE_MASTER_KEY_FILE.`,
    )
  }
}
