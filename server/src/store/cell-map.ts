import { bucketOf } from './cells.ts'

/** Cells that are read and written together, in one statement. */
export interface CellGroup {
  /** short and unique */
  readonly name: string
  readonly schemas: readonly string[]
}

/** A cell, by its place in its group. */
export interface Cell {
  readonly group: CellGroup
  readonly index: number
}

export const schemaOf = ({ group, index }: Cell): string => group.schemas[index] as string

/**
 * More cells in a statement, and it takes longer to start than a few more statements would; fewer, and less calls share
 * one.
 */
const GROUP_SIZE = 8

/** Which cell each user is in. */
export class CellMap {
  readonly #cells: readonly Cell[]
  readonly #buckets: readonly number[]

  /** `buckets`: of each bucket, the number of its cell */
  constructor(schemas: readonly string[], buckets: readonly number[]) {
    const groups = new Map<number, CellGroup>()
    this.#cells = schemas.map((_, cell) => {
      const from = cell - (cell % GROUP_SIZE)
      let group = groups.get(from)
      if (!group) {
        group = groupOf(schemas.slice(from, from + GROUP_SIZE))
        groups.set(from, group)
      }
      return { group, index: cell - from }
    })
    this.#buckets = buckets
  }

  of(appId: string, userId: string): Cell {
    return this.#cells[this.#buckets[bucketOf(appId, userId)] ?? 0] as Cell
  }
}

/** The same object for the same cells: their statements are kept by it. */
function groupOf(schemas: readonly string[]): CellGroup {
  return groupNamed(schemas.join('_'))
}

const groupNamed = kept((name: string): CellGroup => ({ name, schemas: name.split('_') }))

/** Makes something once for each cell or group. */
export function kept<Key, Value>(make: (key: Key) => Value): (key: Key) => Value {
  const made = new Map<Key, Value>()
  return (key) => {
    let value = made.get(key)
    if (value === undefined) {
      value = make(key)
      made.set(key, value)
    }
    return value
  }
}

/** What concerns users, by the group of their cell; null is the cell where there is one. */
export function byGroup<Item>(items: readonly Item[], cellOf: (item: Item) => Cell | null): Item[][] {
  const groups = new Map<CellGroup | null, Item[]>()
  for (const item of items) {
    const group = cellOf(item)?.group ?? null
    const some = groups.get(group)
    if (some) some.push(item)
    else groups.set(group, [item])
  }
  return [...groups.values()]
}
