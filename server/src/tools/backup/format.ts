import type { Sequence } from '../../store/schema/tables.ts'
import type { Head } from './contents.ts'
import type { RowSum, TableSum } from './row-sum.ts'

// A backup is gzip over lines: a head, then for each table a line with its name and columns, its rows as COPY writes
// them, and `\.`; finally a tail with the checksums. `zcat` shows it.

export const FORMAT = 'tollgate-backup'
export const FORMAT_VERSION = 1
export const END_OF_ROWS = '\\.'

export interface Tail {
  tables: TableSum[]
  sequences: Sequence[]
  /** of everything before the tail */
  sha256: string
}

export interface Summary {
  head: Head
  tables: TableSum[]
}

/** Called after every piece of a table, and once it is done. */
export type Watch = (sum: RowSum, done: boolean) => void
