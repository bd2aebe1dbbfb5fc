import { capText, type GrantCap, RESET_PERIODS } from '../grants.ts'
import { number } from './number.ts'

type Values = Record<string, unknown>

export interface Difference {
  /** "Features › API calls › Limit" */
  field: string
  before: string
  after: string
}

/** Longer values are cut: a table is no place to read them. */
const MAX_SHOWN = 240

const NOTHING = '–'

/**
 * Differences between two versions of an object, field by field, in words. Entries of a list are matched by what they
 * are about, and things are called by their names where those are known.
 */
export function differences(before: Values | null, after: Values | null, words: Words): Difference[] {
  return compared([], before ?? {}, after ?? {}, words)
}

interface Words {
  /** what people call the thing with this id */
  nameOf(id: string): string
  timeOf(iso: string): string
}

function compared(path: string[], before: unknown, after: unknown, words: Words): Difference[] {
  if (JSON.stringify(before) === JSON.stringify(after)) return []
  const lists = [before, after].map(entriesOf)
  if (lists.some((list) => list !== null && list.size > 0)) {
    const [old = null, now = null] = lists
    const keys = new Set([...(old?.keys() ?? []), ...(now?.keys() ?? [])])
    return [...keys].flatMap((key) =>
      comparedEntry([...path, words.nameOf(key)], old?.get(key), now?.get(key), words),
    )
  }
  const sides = [before, after].filter((side) => side !== null && side !== undefined)
  if (sides.every(isObject)) {
    const [old, now] = [before, after].map((side) => (isObject(side) ? side : {})) as [Values, Values]
    const names = new Set([...Object.keys(old), ...Object.keys(now)])
    return [...names].flatMap((name) => compared([...path, labelOf(name, path)], old[name], now[name], words))
  }
  const name = path.at(-1) ?? ''
  const [old, now] = [before, after].map((side) => textOf(side, name, words)) as [string, string]
  return old === now ? [] : [{ field: path.join(' › '), before: old, after: now }]
}

/** An entry that is new, or gone, is one line; of one that changed, each field is. */
function comparedEntry(
  path: string[],
  before: Values | undefined,
  after: Values | undefined,
  words: Words,
): Difference[] {
  if (before && after) return compared(path, before, after, words)
  const inShort = (entry: Values | undefined) => {
    if (!entry) return NOTHING
    const told = Object.entries(entry).flatMap(([name, value]) => {
      const text = textOf(value, labelOf(name, []), words)
      return name === keyName(entry) || text === NOTHING ? [] : [`${labelOf(name, [])}: ${text}`]
    })
    return cut(told.length === 0 ? 'included' : told.join(', '))
  }
  return [{ field: path.join(' › '), before: inShort(before), after: inShort(after) }]
}

const isObject = (value: unknown): value is Values =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const keyName = (entry: Values) => ['featureId', 'id'].find((name) => typeof entry[name] === 'string')

/** The entries of a list, by what each is about; null: it is no such list. */
function entriesOf(value: unknown): Map<string, Values> | null {
  if (!Array.isArray(value)) return null
  const entries = new Map<string, Values>()
  for (const entry of value) {
    const name = isObject(entry) ? keyName(entry) : undefined
    if (name === undefined) return null
    entries.set(String(entry[name]), entry)
  }
  return entries
}

const LABELS: Record<string, string> = {
  isAddon: 'Add-on',
  id: 'Id',
  featureId: 'Feature',
  packageId: 'Package',
  packageIds: 'Packages',
  userId: 'User',
  overageEnabled: 'Overage',
  publishedFor: 'Published for',
}

/** "billingId" is "Billing id"; what stands in metadata is the customer's own, and stays as it is. */
function labelOf(name: string, path: string[]): string {
  if (path.includes('Metadata')) return name
  const words = name.replace(/([A-Z])/g, (letter) => ` ${letter.toLowerCase()}`)
  return LABELS[name] ?? words.charAt(0).toUpperCase() + words.slice(1)
}

const TIME = /^\d{4}-\d\d-\d\dT[\d:.]+(Z|[+-]\d\d:\d\d)$/

function textOf(value: unknown, label: string, words: Words): string {
  if (value === null || value === undefined) return NOTHING
  if (typeof value === 'boolean') return value ? 'yes' : 'no'
  if (typeof value === 'number') return number(value)
  if (typeof value === 'string') {
    if (TIME.test(value)) return words.timeOf(value)
    if (label === 'Reset period') return RESET_PERIODS.find((one) => one.value === value)?.label ?? value
    return cut(/^(Feature|Package)$/.test(label) ? words.nameOf(value) : value)
  }
  if (Array.isArray(value) && label === 'Caps') return cut(value.map(planCapText).join(', ') || NOTHING)
  if (Array.isArray(value) && value.every((one) => typeof one !== 'object')) {
    return value.length === 0 ? NOTHING : cut(value.map((one) => words.nameOf(String(one))).join(', '))
  }
  if (Array.isArray(value) && value.length === 0) return NOTHING
  return cut(JSON.stringify(value))
}

/** Caps in the log are those of an entitlement. */
const planCapText = (cap: Omit<GrantCap, 'limit'> & { limit: number }) =>
  capText({ ...cap, limit: String(cap.limit) })

const cut = (text: string) => (text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN)}…` : text)
