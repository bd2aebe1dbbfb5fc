import { badUserInput, quote } from './errors.ts'
import { isIdentifier } from './identifier.ts'
import { MAX_COUNT, MAX_ENTITIES, MAX_PLAN_CAPS } from './limits.ts'
import { RESET_PERIODS, type ResetPeriod } from './period.ts'

/**
 * A cap refuses usage of a feature and pays for none of it.
 *
 * Invariants (cap.test.ts):
 * - windows are those of the UTC calendar: every moment is in exactly one, and a plan change never begins another;
 * - a cap counts all usage of its user and entity while it exists, whoever pays;
 * - ADD and reservations never take used and reserved units past the limit; a settlement of reserved units always fits.
 */
export interface Cap {
  /** `type:id`; null: all usage of the user */
  entity: string | null
  limit: number
  period: ResetPeriod
}

/** Of each subscriber of a plan, or of each of their entities of one type. */
export type PlanCap = {
  period: ResetPeriod
  limit: number
  /** a type such as `agent`; null: all usage of the subscriber */
  perEntity: string | null
}

/** With the usage of the window that started then. */
export interface CountedCap extends Cap {
  windowStart: number
  used: number
}

/** Stored cap: one of the user or, if the limit is null, only the count of a plan's cap. */
export interface CapCount extends Omit<CountedCap, 'limit'> {
  limit: number | null
}

/** In the current window, with the units that live reservations hold. */
export interface HeldCap extends CountedCap {
  reserved: number
}

export function checkCap({ entity, limit }: Cap): void {
  if (entity !== null) checkEntity('entity', entity)
  checkLimit('limit', limit)
}

function checkLimit(field: string, limit: number): void {
  if (!Number.isInteger(limit) || limit < 0 || limit > MAX_COUNT)
    throw badUserInput(
      `${field === 'limit' ? 'limit' : 'The limit of each cap'} must be an integer from 0 to ${MAX_COUNT}`,
      field,
    )
}

/** The caps of an entitlement, in one order. */
export function checkedPlanCaps(caps: readonly PlanCap[]): PlanCap[] {
  const refuse = (why: string) => badUserInput(why, 'caps')
  if (caps.length > MAX_PLAN_CAPS) throw refuse(`caps must contain at most ${MAX_PLAN_CAPS} caps`)
  const seen = new Set<string>()
  for (const { period, limit, perEntity } of caps) {
    if (!RESET_PERIODS.includes(period))
      throw refuse(`The period of each cap must be one of ${RESET_PERIODS.join(', ')}`)
    checkLimit('caps', limit)
    if (perEntity !== null && (!isIdentifier(perEntity) || perEntity.includes(':')))
      throw refuse(`perEntity must be a type of entity, for example "agent": ${quote(perEntity)}`)
    const name = `${period} ${perEntity}`
    if (seen.has(name)) throw refuse(`Two caps have the period ${period} and the same entities`)
    seen.add(name)
  }
  return [...caps].sort(
    (a, b) =>
      compareText(a.perEntity ?? '', b.perEntity ?? '') ||
      RESET_PERIODS.indexOf(a.period) - RESET_PERIODS.indexOf(b.period),
  )
}

const compareText = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)

const sameKind = (a: PlanCap, b: PlanCap): boolean => a.period === b.period && a.perEntity === b.perEntity

/** Of caps of the same period and entities, the one with the highest limit. */
export function highestCaps(some: readonly PlanCap[], others: readonly PlanCap[]): PlanCap[] {
  const limitIn = (caps: readonly PlanCap[], cap: PlanCap) =>
    caps.find((one) => sameKind(one, cap))?.limit ?? 0
  return [...some, ...others.filter((cap) => !some.some((one) => sameKind(one, cap)))].map((cap) => ({
    ...cap,
    limit: Math.max(limitIn(some, cap), limitIn(others, cap)),
  }))
}

/**
 * The caps in force for calls that name some of these entities: those of the user, and those of the plan. One of the user
 * replaces that of the plan with the same period and entity, and both share the count.
 */
export function capsInForce(
  counts: readonly CapCount[],
  plan: readonly PlanCap[],
  entities: readonly string[],
): CountedCap[] {
  const all = counts.flatMap((count) => (isOwn(count) ? [count] : []))
  for (const { period, limit, perEntity } of plan) {
    const named = perEntity === null ? [null] : entities.filter((entity) => typeOf(entity) === perEntity)
    for (const entity of named) {
      const count = counts.find((one) => one.entity === entity && one.period === period)
      if (count && isOwn(count)) continue
      const { windowStart = 0, used = 0 } = count ?? {}
      all.push({ entity, limit, period, windowStart, used })
    }
  }
  return all
}

/** A cap of a user, of their own or of their plans. */
interface SubscriberCap {
  /** `type:id`; null: all usage of the user, or each entity of a type */
  entity: string | null
  /** type of the entities that it holds for, each by itself: it has no count of its own */
  perEntity: string | null
  period: ResetPeriod
  limit: number
  /** set for this user */
  own: boolean
  /** limit of the plan's cap that it replaces; null: none */
  planLimit: number | null
  windowStart: number
  used: number
}

/** The caps set for the user, in the order of the counts, then the caps of the plans that they do not replace. */
export function capsOfSubscriber(counts: readonly CapCount[], plan: readonly PlanCap[]): SubscriberCap[] {
  const own = counts.filter(isOwn)
  return [
    ...own.map((cap) => {
      const planLimit = replacedBy(plan, cap)?.limit ?? null
      return { ...cap, perEntity: null, own: true, planLimit }
    }),
    ...plan.flatMap(({ period, limit, perEntity }) => {
      const isFor = (one: CapCount) => one.entity === null && one.period === period
      if (perEntity === null && own.some(isFor)) return []
      const { windowStart = 0, used = 0 } = (perEntity === null && counts.find(isFor)) || {}
      return [{ entity: null, perEntity, period, limit, own: false, planLimit: null, windowStart, used }]
    }),
  ]
}

/** The plan's cap that one of the user replaces; null: none. */
export const replacedBy = (
  plan: readonly PlanCap[],
  { entity, period }: Pick<Cap, 'entity' | 'period'>,
): PlanCap | null =>
  plan.find((cap) => cap.period === period && cap.perEntity === (entity && typeOf(entity))) ?? null

const isOwn = (count: CapCount): count is CountedCap => count.limit !== null

const typeOf = (entity: string): string => entity.slice(0, entity.indexOf(':'))

/** The entities of a call, each once. */
export function checkedEntities(entities: readonly string[]): string[] {
  if (entities.length > MAX_ENTITIES)
    throw badUserInput(`entities must contain at most ${MAX_ENTITIES} entities`, 'entities')
  for (const entity of entities) checkEntity('entities', entity)
  return [...new Set(entities)]
}

export function checkEntity(field: string, entity: string): void {
  if (!isIdentifier(entity) || !/^[^:]+:./.test(entity))
    throw badUserInput(`${field} must have the form type:id, for example "team:7": ${quote(entity)}`, field)
}

const HOUR = 3_600_000
const DAY = 24 * HOUR
/** 1970 began on a Thursday; weeks begin on Monday. */
const FIRST_MONDAY = 4 * DAY

/** Start of the window that contains this moment. */
export function windowStart(period: ResetPeriod, at: number): number {
  const date = new Date(at)
  switch (period) {
    case 'NEVER':
      return 0
    case 'HOUR':
      return Math.floor(at / HOUR) * HOUR
    case 'DAY':
      return Math.floor(at / DAY) * DAY
    case 'WEEK':
      return Math.floor((at - FIRST_MONDAY) / (7 * DAY)) * 7 * DAY + FIRST_MONDAY
    case 'MONTH':
      return Date.UTC(date.getUTCFullYear(), date.getUTCMonth())
    case 'YEAR':
      return Date.UTC(date.getUTCFullYear(), 0)
  }
}

/** Start of the next window; null: there is none. */
export function windowEnd(period: ResetPeriod, at: number): number | null {
  const start = windowStart(period, at)
  const date = new Date(start)
  switch (period) {
    case 'NEVER':
      return null
    case 'HOUR':
      return start + HOUR
    case 'DAY':
      return start + DAY
    case 'WEEK':
      return start + 7 * DAY
    case 'MONTH':
      return Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1)
    case 'YEAR':
      return Date.UTC(date.getUTCFullYear() + 1, 0)
  }
}

/** Usage of a window that has ended no longer counts. */
export function capAt(cap: CountedCap, reserved: number, now: number): HeldCap {
  const start = windowStart(cap.period, now)
  return { ...cap, windowStart: start, used: cap.windowStart === start ? cap.used : 0, reserved }
}

export const capApplies = ({ entity }: Cap, entities: readonly string[]): boolean =>
  entity === null || entities.includes(entity)

export const capLeft = ({ limit, used, reserved }: HeldCap): number => Math.max(0, limit - used - reserved)

/** Of the caps that apply, the one with the fewest units left; null: none applies. */
export function tightestCap(caps: readonly HeldCap[], entities: readonly string[]): HeldCap | null {
  let tightest: HeldCap | null = null
  for (const cap of caps) {
    if (capApplies(cap, entities) && (tightest === null || capLeft(cap) < capLeft(tightest))) tightest = cap
  }
  return tightest
}

/** Counts usage, or takes it back: a cap counts only what it has seen, so it never falls below zero. */
export const countInCaps = (
  caps: readonly HeldCap[],
  entities: readonly string[],
  amount: number,
): readonly HeldCap[] =>
  caps.length === 0 || amount === 0
    ? caps
    : caps.map((cap) =>
        capApplies(cap, entities)
          ? { ...cap, used: Math.min(Math.max(0, cap.used + amount), MAX_COUNT) }
          : cap,
      )

/** As `deniedBy` says it: `CAP DAY`, or `CAP HOUR agent:42`. */
export const capName = ({ period, entity }: Cap): string =>
  entity === null ? `CAP ${period}` : `CAP ${period} ${entity}`

/** The figures of a cap in a sentence. */
export function capFigures({ period, entity, limit, used, reserved }: HeldCap): string {
  const window = period === 'NEVER' ? 'in total' : period === 'DAY' ? 'today' : `this ${period.toLowerCase()}`
  const held = reserved > 0 ? `, ${reserved} reserved` : ''
  return `${used} of ${limit} used ${window}${entity === null ? '' : ` by ${quote(entity)}`}${held}`
}
