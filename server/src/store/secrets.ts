import { randomBytes } from 'node:crypto'
import type { Db } from './database.ts'

/** A secret of 256 bits, made once per database whoever asks first. */
export async function secretNamed(db: Db, name: string): Promise<Buffer> {
  await db.query(`insert into secret (name, value) values ($1, $2) on conflict do nothing`, [
    name,
    randomBytes(32),
  ])
  const { rows } = await db.query<{ value: Buffer }>(`select value from secret where name = $1`, [name])
  if (!rows[0]) throw new Error(`the secret ${name} vanished`)
  return rows[0].value
}
