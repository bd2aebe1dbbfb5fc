import { bucketOf } from './cells.ts'

/** Cells that are read and written together, in one statement. */
export interface CellGroup {
  /** short and unique */
  readonly name: string
  readonly schemas: readonly string[]
  /** one cell, on another server */
  readonly remote: boolean
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
  /** whether one of them is on another server */
  readonly anyRemote: boolean

  /** `buckets`: of each bucket, the number of its cell */
  constructor(cells: readonly { schema: string; remote: boolean }[], buckets: readonly number[]) {
    const near = cells.filter(({ remote }) => !remote).map(({ schema }) => schema)
    this.#cells = cells.map(({ schema, remote }) => {
      if (remote) return { group: remoteGroup(schema), index: 0 }
      const at = near.indexOf(schema)
      const from = at - (at % GROUP_SIZE)
      return { group: groupOf(near.slice(from, from + GROUP_SIZE)), index: at - from }
    })
    this.#buckets = buckets
    this.anyRemote = cells.some(({ remote }) => remote)
  }

  of(appId: string, userId: string): Cell {
    return this.#cells[this.#buckets[bucketOf(appId, userId)] ?? 0] as Cell
  }
}

/** The same object for the same cells: their statements are kept by it. */
function groupOf(schemas: readonly string[]): CellGroup {
  return groupNamed(schemas.join('_'))
}

const groupNamed = kept((name: string): CellGroup => ({ name, schemas: name.split('_'), remote: false }))
const remoteGroup = kept((name: string): CellGroup => ({ name, schemas: [name], remote: true }))

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
