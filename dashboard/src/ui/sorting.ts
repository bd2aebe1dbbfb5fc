/** The order of a list as the address has it: a column, or with a minus a column from the end. */
export interface Sorting<Order extends string = string> {
  /** the current order; undefined: none that a column shows */
  now: Order | undefined
  set: (order: Order) => void
}

/** Both orders of each of these columns. */
export const bothWays = <const Column extends string>(...columns: Column[]) =>
  columns.flatMap((column) => [column, `-${column}`] as const)

type Key = string | number | null | undefined

/** A list that is here as a whole, sorted; without an order, as it is. Rows without a key come last. */
export function sorted<Row, Column extends string>(
  rows: readonly Row[],
  order: Column | `-${Column}` | undefined,
  keys: Record<Column, (row: Row) => Key>,
): readonly Row[] {
  if (order === undefined) return rows
  const column = order.replace(/^-/, '') as Column
  const down = order.startsWith('-') ? -1 : 1
  const of = keys[column]
  return [...rows].sort((a, b) => {
    const [first, second] = [of(a) ?? null, of(b) ?? null]
    if (first === null || second === null) return Number(first === null) - Number(second === null)
    return down * compare(first, second)
  })
}

function compare(a: string | number, b: string | number): number {
  if (typeof a === 'number' && typeof b === 'number') return a - b
  return String(a).localeCompare(String(b), 'en', { sensitivity: 'base', numeric: true })
}
