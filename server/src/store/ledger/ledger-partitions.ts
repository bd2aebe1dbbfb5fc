import { type Pool, type Tx, transactionOnce } from '../connection/database.ts'
import type { HomeDb } from '../connection/places.ts'

// The ledger is partitioned by ranges of `seq`, one block of 2^40 each. A block is opened by moving the sequence to its
// start. Nobody waits for that, and no entry is ever without a partition: until the next one is opened, the current one
// is used. `recorded_at` would not work: an app with a test clock records at any time.

const BLOCK = 2 ** 40
/** `seq` stays below 2^53, where a number is exact: enough for 600 years of months. */
const LAST_BLOCK = 2 ** 13 - 1

export const partitionName = (block: number): string => `usage_ledger_${block}`

/** The block of an entry by its number. */
export const blockOf = (seq: number): number => Math.floor(seq / BLOCK)

/** The last number of a block. */
export const lastNumberOf = (block: number): number => (block + 1) * BLOCK - 1

/** The schema of a ledger on another server; null: it is on this one. */
export async function remoteLedger(db: HomeDb): Promise<string | null> {
  const { rows } = await db.query<{ schema: string }>(
    `select schema from cell where remote and schema = current_schema()`,
  )
  return rows[0]?.schema ?? null
}

/** Blocks that have a partition, in order. */
export async function attachedBlocks(db: HomeDb): Promise<number[]> {
  const { rows } = await db.query<{ name: string }>(
    `select c.relname as name from pg_inherits i join pg_class c on c.oid = i.inhrelid
     where i.inhparent = 'usage_ledger'::regclass`,
  )
  return rows.map(({ name }) => Number(name.slice(partitionName(0).length - 1))).sort((a, b) => a - b)
}

/** The ledgers of all cells are numbered by the first one's sequence. */
const SEQUENCE = `(select coalesce(pg_get_serial_sequence('usage_ledger', 'seq'), pg_get_serial_sequence('c0.usage_ledger', 'seq')))`

/** The block of new entries, and whether it has any. */
export async function currentBlock(db: HomeDb): Promise<{ block: number; isEmpty: boolean }> {
  const { rows: named } = await db.query<{ sequence: string }>(`select ${SEQUENCE} as sequence`)
  const { rows } = await db.query<{ last: number; used: boolean }>(
    `select last_value as last, is_called as used from ${named[0]?.sequence}`,
  )
  const { last = 0, used = false } = rows[0] ?? {}
  const block = Math.floor(last / BLOCK)
  return { block, isEmpty: !used && last % BLOCK <= 1 }
}

/** Creates a partition. Attaching a table, unlike creating it as a partition, does not block writers of the others. */
export async function createPartition(tx: Tx, block: number): Promise<void> {
  const from = block === 0 ? 'minvalue' : block * BLOCK
  const name = partitionName(block)
  await tx.query(`create table ${name} (like usage_ledger)`)
  await tx.query(
    `alter table usage_ledger attach partition ${name} for values from (${from}) to (${(block + 1) * BLOCK})`,
  )
  // Not on another server, whose new entries are not looked for.
  if ((await remoteLedger(tx)) === null) await tx.query(indexBySeq(name))
}

/** New entries are found by their number. As they are added in its order, an index of a few pages is enough. */
const indexBySeq = (partition: string, how = ''): string =>
  `create index ${how} ${partition}_by_seq on ${partition} using brin (seq) with (pages_per_range = 32)`

/** Indexes partitions that were too large to be indexed during a start, without blocking their writers. */
export async function indexPartitions(pool: Pool): Promise<void> {
  if ((await remoteLedger(pool)) !== null) return
  for (const block of await attachedBlocks(pool)) {
    const name = partitionName(block)
    const { rows } = await pool.query<{ valid: boolean }>(
      `select indisvalid as valid from pg_index where indexrelid = to_regclass($1)`,
      [`${name}_by_seq`],
    )
    if (rows[0]?.valid) continue
    // One that another attempt left unfinished is of no use.
    if (rows[0]) await pool.query(`drop index concurrently if exists ${name}_by_seq`)
    await pool.query(indexBySeq(name, 'concurrently if not exists'))
  }
}

/** The last number that was given to an entry. */
export async function lastEntryNumber(db: HomeDb): Promise<number> {
  const { rows: named } = await db.query<{ sequence: string }>(`select ${SEQUENCE} as sequence`)
  const { rows } = await db.query<{ last: number }>(
    `select case when is_called then last_value else last_value - 1 end as last from ${named[0]?.sequence}`,
  )
  return rows[0]?.last ?? 0
}

/** False: another transaction is changing the list of partitions. */
async function tryLock(tx: Tx): Promise<boolean> {
  const { rows } = await tx.query<{ locked: boolean }>(
    `select pg_try_advisory_xact_lock(hashtext('tollgate ledger partitions')) as locked`,
  )
  return rows[0]?.locked === true
}

/** Prepares partitions for the current block and the next, and updates the list of partitions. */
export async function preparePartitions(pool: Pool): Promise<void> {
  await transactionOnce(pool, async (tx) => {
    if (!(await tryLock(tx))) return
    const { block } = await currentBlock(tx)
    const attached = await attachedBlocks(tx)
    const wanted = new Set([block, Math.min(block + 1, LAST_BLOCK)])
    const missing = [...wanted].filter((one) => !attached.includes(one))
    // The list first, then the tables: the lock order of moves of users.
    await tx.query(`insert into ledger_partition (block) select unnest($1::int[]) on conflict do nothing`, [
      [...attached, ...missing],
    ])
    // The process that moved the sequence here may have been killed before recording it.
    await tx.query(`update ledger_partition set opened_at = now() where opened_at is null and block <= $1`, [
      block,
    ])
    for (const one of missing) await createPartition(tx, one)
  })
}

/** For a restore: creates the partitions of the restored list, except retired ones. */
export async function restorePartitions(tx: Tx): Promise<void> {
  const attached = await attachedBlocks(tx)
  const { rows } = await tx.query<{ block: number; retired: boolean }>(
    `select block, retired_at is not null as retired from ledger_partition`,
  )
  for (const { block, retired } of rows) {
    if (retired && attached.includes(block)) await tx.query(`drop table ${partitionName(block)}`)
    if (!retired && !attached.includes(block)) await createPartition(tx, block)
  }
}

/**
 * Opens the next partition if the current one has entries and is older than `seconds`; returns its block. Moving the
 * sequence cannot be rolled back, so the partition exists by then. If the process is killed before recording it,
 * `preparePartitions` does so.
 */
export async function openPartition(pool: Pool, seconds: number): Promise<number | null> {
  return transactionOnce(pool, async (tx) => {
    if (!(await tryLock(tx))) return null
    const { block, isEmpty } = await currentBlock(tx)
    const next = block + 1
    const { rows } = await tx.query<{ due: boolean }>(
      `select opened_at <= now() - make_interval(secs => $2) as due from ledger_partition where block = $1`,
      [block, seconds],
    )
    if (isEmpty || rows[0]?.due !== true || !(await attachedBlocks(tx)).includes(next)) return null
    await tx.query(`select setval(${SEQUENCE}, $1::bigint, false)`, [next * BLOCK])
    await tx.query(`update ledger_partition set opened_at = clock_timestamp() where block = $1`, [next])
    return next
  })
}

export interface LedgerPartition {
  block: number
  openedAt: number | null
  /** when the next one was opened, after which it gets no entries; null: not yet */
  closedAt: number | null
  retiredAt: number | null
  /** for a retired one, its entries; otherwise PostgreSQL's estimate; null: there is none, as for one on another server */
  entries: number | null
  bytes: number
  file: string | null
}

/** All partitions, including retired ones, oldest first. */
export async function ledgerPartitions(db: HomeDb): Promise<LedgerPartition[]> {
  const isRemote = (await remoteLedger(db)) !== null
  const size = isRemote
    ? '0 as bytes, entries'
    : `coalesce(case when retired_at is null then pg_total_relation_size(leaf) end, 0) as bytes,
       coalesce(entries, (select nullif(reltuples, -1)::bigint from pg_class where oid = leaf)) as entries`
  const { rows } = await db.query<LedgerPartition>(
    `select block, opened_at as "openedAt", lead(opened_at) over (order by block) as "closedAt",
       retired_at as "retiredAt", file, ${size}
     from (select *, to_regclass('usage_ledger_' || block) as leaf from ledger_partition) p order by block`,
  )
  if (!isRemote) return rows
  for (const partition of rows.filter(({ retiredAt }) => retiredAt === null)) {
    const { rows: sizes } = await db.query<{ bytes: number }>(
      `select pg_total_relation_size(tableoid) as bytes from ${partitionName(partition.block)} limit 1`,
    )
    partition.bytes = sizes[0]?.bytes ?? 0
  }
  return rows
}
