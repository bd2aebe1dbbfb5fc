import { StartError } from '../../domain/errors.ts'
import { PLAIN_TERMS } from '../../domain/sale-terms.ts'
import type { Contents, Head } from './contents.ts'

// Backups of the last version before 0.1.0 can be restored. Their tables are those of the baseline, apart from the
// following.

const FIRST_MIGRATION = '001-initial'
const LAST_MIGRATION = '032-retire-remote-ledgers'
const BASELINE = '001-baseline'

const NULL = '\\N'
/** The values of a row by column, as COPY writes them. */
type Row = Record<string, string>

const withTerms = (row: Row): Row => filled(row, { terms: JSON.stringify(PLAIN_TERMS) })

/** Converts rows of these tables; null: the row is dropped. */
const CHANGED: Record<string, (row: Row) => Row | null> = {
  billing_template: withTerms,
  checkout_session: withTerms,
  sandbox_checkout: withTerms,
  provider_subscription: (row) =>
    filled(row, { price_ids: '{}', quantities: '{}', billing_state: 'active', paid_at: row.made_at ?? NULL }),
  // Cached figures are computed again.
  revenue_figures: () => null,
  // Drops secrets that all apps shared.
  secret: (row) => (row.retires_at === NULL ? row : null),
  token_key: (row) => (row.id === 'legacy' ? null : row),
}
const DROPPED_TABLES = ['sign_in_attempt']
const DROPPED_COLUMNS: Record<string, string[]> = { secret: ['retires_at'] }

/** The row with these values instead of nulls. */
function filled(row: Row, values: Row): Row {
  const missing = Object.entries(values).filter(([column]) => row[column] === NULL)
  return { ...row, ...Object.fromEntries(missing) }
}

/** Whether the data is from before 0.1.0; if so, from the last such version. */
export function isPreRelease({ migrations }: Head): boolean {
  if (!migrations.includes(FIRST_MIGRATION)) return false
  if (migrations.at(-1) === LAST_MIGRATION) return true
  throw new StartError(
    `The data is from an early version before 0.1.0 (its schema is at ${migrations.at(-1)}): start the last version before 0.1.0 on it once, and back it up with that.`,
  )
}

/** The contents of a backup as this version would have written them. */
export function withoutPreRelease(contents: Contents): Contents {
  if (!isPreRelease(contents.head)) return contents
  return {
    head: { ...contents.head, migrations: [BASELINE] },
    each: (take) =>
      contents.each(async ({ name, columns }, pieces) => {
        if (DROPPED_TABLES.includes(name)) {
          for await (const _ of pieces);
          return
        }
        const kept = columns.filter((column) => !DROPPED_COLUMNS[name]?.includes(column))
        const change = CHANGED[name]
        await take({ name, columns: kept }, change ? changed(pieces, columns, kept, change) : pieces)
      }),
  }
}

/** Pieces of whole lines, line by line. */
async function* changed(
  pieces: AsyncIterable<Buffer>,
  columns: readonly string[],
  kept: readonly string[],
  change: (row: Row) => Row | null,
): AsyncGenerator<Buffer> {
  for await (const piece of pieces) {
    const lines = piece.toString().split('\n').slice(0, -1)
    const rows = lines.flatMap((line) => {
      const values = line.split('\t')
      const row = change(Object.fromEntries(columns.map((column, i) => [column, values[i] ?? NULL])))
      return row ? [`${kept.map((column) => row[column]).join('\t')}\n`] : []
    })
    if (rows.length > 0) yield Buffer.from(rows.join(''))
  }
}
