/** A feature whose units pay for those of another, and how many pay for one. */
export interface Draw {
  featureId: string
  cost: number
}

/** Units of a source; null: the plan. */
export interface Part {
  credit: string | null
  /** in units of the source's feature */
  amount: number
  /** absent: a source of the feature itself */
  pool?: Draw
}

/** With the period that units of a plan belong to; absent: the current one. Null for credits. */
export interface TakenPart extends Part {
  period?: string | null
}

/** Units that a reservation holds. Those of a plan belong to the period in which they were reserved. */
export interface HeldPart extends Part {
  period: string | null
  settled: number
  /** absent: none. Their caps count the units once they are settled. */
  entities?: readonly string[]
}

/** Units of a pool that paid for the feature. */
export interface DrawnPart extends Part {
  period: string | null
  pool: Draw
}

/**
 * Units of the feature itself. What is drawn on a pool at one cost adds up to whole units; only of what is no longer listed
 * completely, a rest is dropped.
 */
export function unitsOf(parts: readonly Part[]): number {
  let units = 0
  for (const { cost, parts: group } of byDraw(parts)) units += Math.trunc(sum(group.map(amountOf)) / cost)
  return units
}

/** Sum of the units that reserved parts hold, in units of the feature. */
export const heldOf = (parts: readonly HeldPart[]): number =>
  unitsOf(parts.map((part) => ({ ...part, amount: leftOf(part) })))

/** Units that a part still holds of its source. */
export const leftOf = ({ amount, settled }: HeldPart): number => amount - settled

/** The parts by what they are drawn on, at which cost: first the feature's own sources, then pools as they appear. */
export function byDraw<Some extends Part>(parts: readonly Some[]): { cost: number; parts: Some[] }[] {
  const own = { cost: 1, parts: [] as Some[] }
  const groups = [own]
  const found = new Map<string, { cost: number; parts: Some[] }>()
  for (const part of parts) {
    const { pool } = part
    if (!pool) {
      own.parts.push(part)
      continue
    }
    const name = `${pool.cost} ${pool.featureId}`
    let group = found.get(name)
    if (!group) {
      group = { cost: pool.cost, parts: [] }
      found.set(name, group)
      groups.push(group)
    }
    group.parts.push(part)
  }
  return groups
}

export const sameSource = (a: TakenPart, b: TakenPart): boolean =>
  a.credit === b.credit &&
  (a.period ?? null) === (b.period ?? null) &&
  a.pool?.featureId === b.pool?.featureId &&
  a.pool?.cost === b.pool?.cost

/** One part per source. */
export function merged<Some extends TakenPart>(parts: readonly Some[]): Some[] {
  const all: Some[] = []
  for (const part of parts) addPart(all, part)
  return all
}

export function addPart<Some extends TakenPart>(parts: Some[], part: Some): void {
  const same = parts.find((one) => sameSource(one, part))
  if (same) same.amount += part.amount
  else parts.push({ ...part })
}

/** The parts on the sources of a pool, as the pool's own parts. */
export const partsOn = <Some extends Part>(featureId: string, parts: readonly Some[]): Omit<Some, 'pool'>[] =>
  parts.filter(({ pool }) => pool?.featureId === featureId).map(({ pool, ...part }) => part)

export const sum = (numbers: readonly number[]): number => numbers.reduce((total, one) => total + one, 0)

const amountOf = ({ amount }: Part): number => amount
