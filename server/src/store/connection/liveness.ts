import type { HomeDb } from './places.ts'

/** Fails without a connection or a response. */
export async function answers(db: HomeDb): Promise<void> {
  await db.query('select')
}

/** Reads a row and writes it; fails if either fails. */
export async function readAndWrite(db: HomeDb): Promise<void> {
  await db.query(
    `insert into liveness (only_row, written_at) values (true, now())
     on conflict (only_row) do update set written_at = now()`,
  )
}
