/**
 * Invariants: those of `purse.ts`. Histories are replayed by a second, naive implementation, which keeps no state but the
 * history itself: for every step it goes through all earlier ones, one unit at a time.
 */
import { describe, expect, it } from 'vitest'
import { expectSame } from '../../test/harness/same.ts'
import type { Allowance } from './allowance.ts'
import { type CapCount, type PlanCap, replacedBy } from './cap.ts'
import type { CreditKind } from './credit.ts'
import { unitsLeft } from './credit-sale.ts'
import { giveBack } from './give-back.ts'
import {
  currentPeriod,
  type HeldCredit,
  heldParts,
  type PoolSource,
  type Purse,
  purseOf,
  type Spending,
} from './purse.ts'
import { entitiesOf, type Reservation } from './reservation.ts'
import { decideExtend, decideRelease, decideReserve, decideSettle } from './reservation-calls.ts'
import { fromStored, isReturnable, revert, type StoredSplit, toStored } from './revert.ts'
import { remaining, sourcesOf } from './sources.ts'
import { take, usedInPeriod } from './spending.ts'
import { applySpending, consumptionFrom, decideSpending, payOwed } from './spending-calls.ts'
import { type HeldPart, heldOf, type Part, unitsOf } from './split.ts'

const MINUTE = 60_000
/** F draws on P. */
type FeatureId = 'F' | 'P'
const PERIODS = { F: 100 * MINUTE, P: 60 * MINUTE }
const ENTITIES = ['team:1', 'team:2', 'agent:1', 'agent:2']

interface NewCredit {
  id: string
  amount: number
  kind: CreditKind
  priority: number
  effectiveAt: number
  expiresAt: number | null
}

type Step = { at: number; on: FeatureId } & (
  | { do: 'add'; credit: NewCredit }
  | { do: 'void'; id: string }
  | { do: 'record'; delta: number; entities: string[] }
  | { do: 'set'; to: number }
  | { do: 'reserve'; id: string; amount: number; atLeast: number; expiresAt: number; entities: string[] }
  | { do: 'extend'; id: string; amount: number }
  | { do: 'settle'; id: string; amount: number; final: boolean; ifOver: 'RECORD' | 'CAP' | 'REJECT' }
  | { do: 'release'; id: string }
  /** the number of the step that recorded it, or the id of a reservation */
  | { do: 'revert'; of: string }
  /** percent of what was paid for a credit; 0: a dispute was won */
  | { do: 'refund'; id: string; percent: number }
  | ({ do: 'plan' } & Plan)
  /** null: removed */
  | { do: 'cap'; entity: string | null; period: CapPeriod; limit: number | null }
  /** null: F draws on nothing */
  | { do: 'cost'; cost: number | null }
)
type CapPeriod = 'HOUR' | 'DAY' | 'NEVER'
interface Plan {
  budget: number | null
  overage: boolean
  /** null: any number of units */
  overageCap: number | null
  caps: (PlanCap & { period: CapPeriod })[]
}
const NO_PLAN: Plan = { budget: 0, overage: false, overageCap: null, caps: [] }

/** A reproducible sequence of numbers from 0 to 1. */
function random(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let t = Math.imul(state ^ (state >>> 15), 1 | state)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32
  }
}

function historyOf(seed: number): Step[] {
  const next = random(seed)
  const upTo = (most: number) => Math.floor(next() * (most + 1))
  const one = <T>(all: readonly T[]): T => all[upTo(all.length - 1)] as T
  /** Most plans have no caps. */
  const planOf = (budget: number | null): Plan => ({
    budget,
    overage: next() < 0.3,
    overageCap: one([null, upTo(8), upTo(8)]),
    caps: (['HOUR', 'DAY', 'NEVER'] as const).flatMap((period) =>
      [null, 'team', 'agent'].flatMap((perEntity) =>
        next() < 0.06 ? [{ period, limit: upTo(24), perEntity }] : [],
      ),
    ),
  })
  const steps: Step[] = [{ at: 0, on: 'F', do: 'plan', ...planOf(upTo(12)) }]
  // Half of the histories have no pool.
  const hasPool = next() < 0.5
  if (hasPool) {
    steps.push({
      at: 0,
      on: 'P',
      do: 'plan',
      ...planOf(one([null, upTo(30), upTo(30)])),
    })
    steps.push({ at: 0, on: 'F', do: 'cost', cost: 1 + upTo(4) })
  }
  let at = 0
  for (let i = 0; i < 24; i++) {
    at += next() < 0.5 ? 0 : upTo(30)
    const on = hasPool && next() < 0.3 ? 'P' : 'F'
    if (hasPool && next() < 0.06) {
      steps.push({ at, on: 'F', do: 'cost', cost: one([null, 1 + upTo(4), 1 + upTo(4)]) })
      continue
    }
    if (next() < 0.15) {
      const entity = one([null, null, ...ENTITIES])
      const limit = one([null, 0, 4 + upTo(20), 4 + upTo(20)])
      steps.push({ at, on, do: 'cap', entity, period: one(['HOUR', 'DAY', 'NEVER'] as const), limit })
      continue
    }
    if (next() < 0.14) {
      const events = steps.flatMap((step, n) =>
        step.do === 'record' || step.do === 'set' ? [{ on: step.on, of: String(n) }] : [],
      )
      const reservation: { on: FeatureId; of: string } = { on, of: `${on}${upTo(4)}` }
      steps.push({ at, do: 'revert', ...(next() < 0.3 ? reservation : one([reservation, ...events])) })
      continue
    }
    if (next() < 0.05) {
      steps.push({ at, on, do: 'refund', id: `${on}c${upTo(i)}`, percent: one([0, 25, 60, 100]) })
      continue
    }
    const entities = next() < 0.2 ? ENTITIES : ENTITIES.filter(() => next() < 0.4)
    const roll = next()
    const id = `${on}${upTo(4)}`
    if (roll < 0.22) {
      const credit = {
        ...{
          id: `${on}c${i}`,
          amount: 1 + upTo(on === 'F' ? 8 : 20),
          kind: one(['PAID', 'PROMOTIONAL'] as const),
        },
        ...{ priority: one([10, 50, 50, 60]), effectiveAt: at + one([0, 0, 0, 20]) },
        expiresAt: one([null, at + 40, at + 21 + upTo(100)]),
      }
      steps.push({ at, on, do: 'add', credit })
    } else if (roll < 0.26) steps.push({ at, on, do: 'void', id: `${on}c${upTo(i)}` })
    else if (roll < 0.5)
      steps.push({ at, on, do: 'record', delta: one([1, 2, 5, 9, 15, -1, -3, -7]), entities })
    else if (roll < 0.55) steps.push({ at, on, do: 'set', to: upTo(25) })
    else if (roll < 0.7) {
      const amount = 1 + upTo(12)
      const atLeast = 1 + upTo(amount - 1)
      steps.push({ at, on, do: 'reserve', id, amount, atLeast, expiresAt: at + 1 + upTo(80), entities })
    } else if (roll < 0.75) steps.push({ at, on, do: 'extend', id, amount: 1 + upTo(5) })
    else if (roll < 0.9) {
      const ifOver = one(['RECORD', 'CAP', 'REJECT'] as const)
      steps.push({ at, on, do: 'settle', id, amount: upTo(12), final: next() < 0.5, ifOver })
    } else if (roll < 0.95) steps.push({ at, on, do: 'release', id })
    else steps.push({ at, on, do: 'plan', ...planOf(one([null, 0, upTo(20)])) })
  }
  return steps.map(inMinutes)
}

function inMinutes(step: Step): Step {
  const later = (time: number) => time * MINUTE
  const at = later(step.at)
  if (step.do === 'reserve') return { ...step, at, expiresAt: later(step.expiresAt) }
  if (step.do !== 'add') return { ...step, at }
  const { effectiveAt, expiresAt } = step.credit
  const ends = expiresAt === null ? null : later(expiresAt)
  return { ...step, at, credit: { ...step.credit, effectiveAt: later(effectiveAt), expiresAt: ends } }
}

const startOf = (on: FeatureId, at: number) => Math.floor(at / PERIODS[on]) * PERIODS[on]

/** What a history leads to, told by both implementations in the same words. */
interface Outcome {
  answers: unknown[]
  credits: Record<string, number>
  counters: Record<string, number>
}

/** What the store keeps about a feature. */
interface Kept {
  plan: Plan
  counters: Record<number, number>
  credits: Map<string, HeldCredit>
  /** units of each credit */
  bought: Map<string, number>
  reservations: Map<string, Reservation>
  caps: Map<string, CapCount>
  owed: Spending['owed']
  drawn: Spending['drawn']
}

const nothingKept = (): Kept => ({
  plan: NO_PLAN,
  counters: {},
  credits: new Map(),
  bought: new Map(),
  reservations: new Map(),
  caps: new Map(),
  owed: null,
  drawn: null,
})

/** By the rule. What the store keeps is kept in maps. */
function byRule(steps: readonly Step[]): Outcome {
  const answers: unknown[] = []
  const both: Record<FeatureId, Kept> = { F: nothingKept(), P: nothingKept() }
  const splits = new Map<string, StoredSplit>()
  const reverted = new Set<string>()
  let cost: number | null = null
  for (const [n, step] of steps.entries()) {
    const { at, on } = step
    const kept = both[on]
    const periodOf = (of: FeatureId) => ({ start: startOf(of, at), end: startOf(of, at) + PERIODS[of] })
    const heldBy = (of: FeatureId, without: string | null) =>
      [...both[of].reservations].flatMap(([key, { parts, expiresAt, state }]) =>
        key !== without && state === 'HELD' && at < expiresAt ? parts : [],
      )
    /** `open` false: for a reservation, also if its pool is that no longer. `also`: what it holds then. */
    const purseFor = (of: FeatureId, without: string | null, also: HeldPart[], always = false): Purse => {
      const { plan, counters, owed, drawn, credits, caps } = both[of]
      const others = of === 'P' ? [...heldBy('F', without), ...also] : []
      const own = of === 'F' || on === 'P' ? also : []
      const pool: PoolSource | null =
        of === 'F' && (cost !== null || always)
          ? { featureId: 'P', cost: cost ?? 1, open: cost !== null, purse: purseFor('P', without, also) }
          : null
      return purseOf(
        {
          allowance: allowanceOf(plan),
          period: periodOf(of),
        },
        counters[periodOf(of).start] ?? 0,
        {
          ...{ owed, drawn, caps: [...caps.values()], entities: ENTITIES },
          credits: [...credits.values()].map((credit) => ({ ...credit, reserved: 0 as const })),
          held: heldParts(of, [...heldBy(of, without), ...own], others),
        },
        at,
        pool,
      )
    }
    const purse = () => purseFor(on, null, [])
    const keep = (of: FeatureId, after: Purse) => {
      const side = both[of]
      side.counters[periodOf(of).start] = after.used
      for (const { reserved, ...cap } of after.caps) {
        const name = `${cap.period} ${cap.entity}`
        side.caps.set(name, { ...cap, limit: side.caps.get(name)?.limit ?? null })
      }
      for (const { reserved, ...credit } of after.credits)
        side.credits.set(credit.id, { ...credit, reserved: 0 })
      const period = currentPeriod(after)
      if (after.owed > 0 || side.owed?.period === period) side.owed = { amount: after.owed, period }
      side.drawn = { ...after.drawn, period }
      if (after.pool) keep('P', after.pool.purse)
    }
    if (step.do === 'plan') kept.plan = step
    else if (step.do === 'cost') cost = step.cost
    else if (step.do === 'cap') {
      const { entity, period, limit } = step
      const name = `${period} ${entity}`
      const found = kept.caps.get(name)
      if (limit === null && found?.limit != null) {
        kept.caps.delete(name)
        // A cap of the plan takes over the count.
        if (replacedBy(kept.plan.caps, { entity, period })) kept.caps.set(name, { ...found, limit })
      } else if (limit !== null)
        kept.caps.set(name, {
          ...(kept.caps.get(name) ?? { windowStart: 0, used: 0 }),
          entity,
          period,
          limit,
        })
    } else if (step.do === 'add') {
      const { credit } = step
      kept.bought.set(credit.id, credit.amount)
      kept.credits.set(credit.id, {
        ...{ ...credit, seq: kept.credits.size, used: 0, voidedAt: null },
        ...{ period: null, periodUsed: 0, reserved: 0, reason: null },
      })
      keep(on, payOwed(purse(), credit.id, at).purse)
    } else if (step.do === 'void') {
      const credit = kept.credits.get(step.id)
      if (credit && credit.voidedAt === null) kept.credits.set(step.id, { ...credit, voidedAt: at })
    } else if (step.do === 'record' || step.do === 'set') {
      const call =
        step.do === 'record'
          ? { action: 'ADD' as const, delta: step.delta, entities: step.entities }
          : { action: 'SET' as const, delta: step.to, entities: [] }
      const before = purse()
      const { recorded, parts, purse: after } = applySpending(before, call, at)
      if (step.do === 'record' && step.delta >= 0)
        expect(decideSpending(METERED, before, step.delta, at, step.entities).access).toBe(recorded)
      if (recorded) {
        keep(on, after)
        const during = currentPeriod(before)
        const ofPool = before.pool && currentPeriod(before.pool.purse)
        const placed = parts.map((part) => ({ ...part, period: part.pool ? ofPool : during }))
        const { entities = [] } = call
        if (parts.length > 0) splits.set(`${n}`, toStored({ featureId: on, during, parts: placed, entities }))
        expect(unitsOf(parts)).toBe(step.do === 'record' ? step.delta : step.to - usedInPeriod(before))
      } else expect(after).toEqual(before)
      answers.push(recorded)
    } else if (step.do === 'refund') {
      const credit = purse().credits.find(({ id }) => id === step.id)
      if (credit && credit.voidedAt === null) {
        const bought = kept.bought.get(credit.id) ?? 0
        const payment = { amount: 100, refunded: step.percent, dispute: null }
        const amount = unitsLeft(bought, credit.used + credit.reserved, [payment])
        kept.credits.set(credit.id, { ...credit, amount, reserved: 0 })
      }
    } else if (step.do === 'revert') {
      const event = splits.get(step.of)
      const reservation = kept.reservations.get(step.of)
      if (reverted.has(step.of)) answers.push('again')
      else if (!event && !reservation) answers.push('none')
      else if (reservation?.state === 'HELD' && at < reservation.expiresAt) answers.push('held')
      else {
        const settled = (reservation?.parts ?? []).flatMap(({ settled, ...part }) =>
          settled > 0 ? [{ ...part, amount: settled }] : [],
        )
        const entities = entitiesOf(reservation?.parts ?? [])
        const split = event
          ? fromStored(JSON.parse(JSON.stringify(event)) as StoredSplit)
          : { featureId: on, during: null, parts: settled, entities }
        const draws = split.parts.some(({ pool }) => pool)
        const before = purseFor(on, null, [], draws)
        const made = revert(before, split, at)
        if (!split.parts.some((part) => isReturnable(before, part))) answers.push('lapsed')
        else if ('refused' in made) answers.push('refused')
        else {
          keep(on, made.purse)
          reverted.add(step.of)
          answers.push('reverted')
        }
      }
    } else if (step.do === 'reserve') {
      if (kept.reservations.has(step.id)) continue
      const { id, amount, atLeast, entities, expiresAt } = step
      const asked = { id, featureId: on, amount, atLeast, entities, metadata: {} }
      const change = decideReserve(purse(), { ...asked, ttlSeconds: (expiresAt - at) / 1_000 }, 0, at)
      if (typeof change !== 'string') kept.reservations.set(id, change.after)
      answers.push(typeof change === 'string' ? 0 : heldOf(change.after.parts))
      if (typeof change !== 'string' && change.changed) expectSame(change.purse, purse())
    } else {
      const found = kept.reservations.get(step.id)
      if (found?.state !== 'HELD') continue
      const live = at < found.expiresAt
      const now = () => purseFor(on, null, [], on === 'F')
      const change =
        step.do === 'extend'
          ? live
            ? decideExtend(now(), found, { add: step.amount, ttlSeconds: null }, at)
            : null
          : step.do === 'release'
            ? decideRelease(now(), found, at)
            : decideSettle(now(), found, step, at)
      if (step.do === 'extend') answers.push(change?.changed ?? false)
      if (change?.changed) {
        if (change.burn) keep(on, change.burn.after)
        for (const { period, amount, pool } of change.burn?.earlier ?? []) {
          const start = Number(period?.split(' ')[1])
          const { counters } = both[pool ? 'P' : on]
          counters[start] = (counters[start] ?? 0) + amount
        }
        kept.reservations.set(step.id, change.after)
        expectSame(change.purse, now())
      }
      if (step.do === 'settle')
        answers.push(change?.changed ? change.after.settled - found.settled : 'rejected')
      if (step.do === 'settle' && !change?.changed) continue
    }
    for (const of of ['F', 'P'] as const) {
      const after = purseFor(of, null, [])
      const exceeded = after.credits.filter(
        ({ used, voidedAt, reserved, amount }) => used + (voidedAt === null ? reserved : 0) > amount,
      )
      expectSame(exceeded, [])
      const { reserved } = consumptionFrom(after, at)
      answers.push([remaining(after, at), reserved, sourcesOf(after, at).map(({ id }) => id)])
      answers.push(
        after.caps
          .map(({ period, entity, used, reserved }) => [`${period} ${entity}`, used, reserved])
          .sort(),
      )
    }
  }
  const all = (['F', 'P'] as const).map((of) => ({ of, ...both[of] }))
  return {
    answers,
    credits: Object.fromEntries(
      all.flatMap(({ credits }) => [...credits].map(([id, { used }]) => [id, used])),
    ),
    counters: Object.fromEntries(
      all.flatMap(({ of, counters }) =>
        Object.entries(counters).flatMap(([start, used]) => (used > 0 ? [[`${of} ${start}`, used]] : [])),
      ),
    ),
  }
}

const allowanceOf = ({ budget, overage, overageCap, caps }: Plan): Allowance => ({
  ...{ budget, overageEnabled: overage, resetPeriod: 'DAY' },
  ...(overage && overageCap !== null && { overageCap }),
  ...(caps.length > 0 && { caps }),
})

const METERED = {
  kind: 'metered',
  allowance: { budget: 0, overageEnabled: false, resetPeriod: 'DAY' },
  anchor: 0,
  period: { start: 0, end: PERIODS.F },
  byOverride: false,
} as const

/** One unit of a source, with everything that ever happened to it. */
interface Unit {
  /** the feature whose source it is */
  of: FeatureId
  /** null: the plan */
  source: string | null
  /** of the plan, or in which it was taken from a credit */
  period: number
  state: 'used' | 'owed' | { reservation: string }
  /** of the calls that F made on P: how many such units are one of F */
  cost?: number
}

/** What a step took or returned: used units of a source, and how many of them are one of F. */
interface Counted {
  of: FeatureId
  source: string | null
  /** null: a credit */
  period: number | null
  /** null: not drawn by F */
  cost: number | null
}

interface Taking {
  /** null: perhaps several */
  during: number | null
  /** by the text of what was counted; below zero: returned */
  parts: Map<string, number>
  entities: string[]
}

interface NaiveCap {
  of: FeatureId
  entity: string | null
  period: CapPeriod
  limit: number
}

/** Naively: a list of units, sorted and counted anew for each of them. */
function byReplay(steps: readonly Step[]): Outcome {
  const answers: unknown[] = []
  const units: Unit[] = []
  /** units of P that F used, in order; of the period of F in which it did */
  const claims: { during: number; source: string | null; period: number; cost: number }[] = []
  /** the same in units of F: periods in which it used one */
  const drawn: number[] = []
  const credits: (NewCredit & { of: FeatureId; bought: number; voidedAt: number | null })[] = []
  /** what each step that recorded usage took, and what the settlements of each reservation did */
  const takings = new Map<string, Taking>()
  const reverted = new Set<string>()
  const reservations = new Map<string, { expiresAt: number; open: boolean; entities: string[] }>()
  /** each as if all of history were read again */
  const caps: NaiveCap[] = []
  /** with the names of the caps in force then */
  const recorded: { of: FeatureId; at: number; units: number; entities: string[]; counted: string[] }[] = []
  /** where the count of a cap begins anew */
  const since: Record<string, number> = {}
  const plans: Record<FeatureId, Plan> = { F: NO_PLAN, P: NO_PLAN }
  let cost: number | null = null
  for (const [n, step] of steps.entries()) {
    const { at, on } = step
    const before = tallyOf()
    const nowOf = (of: FeatureId) => startOf(of, at)
    const holds = (id: string) => {
      const found = reservations.get(id)
      return found?.open === true && at < found.expiresAt
    }
    const counts = ({ state }: Unit) => typeof state === 'string' || holds(state.reservation)
    const isLive = ({ voidedAt, effectiveAt, expiresAt }: (typeof credits)[number]) =>
      voidedAt === null && effectiveAt <= at && (expiresAt === null || at < expiresAt)
    const planTaken = (of: FeatureId) =>
      units.filter((u) => u.of === of && u.source === null && u.period === nowOf(of) && counts(u)).length
    const creditTaken = (id: string) => units.filter((u) => u.source === id && counts(u)).length
    /** All sources in the order of the rule, written out. */
    const ordered = (of: FeatureId) => {
      const all = [
        { id: null as string | null, key: [50, nowOf(of) + PERIODS[of], 1, nowOf(of), -1] },
        ...credits
          .filter((c) => c.of === of)
          .map((c, i) => ({
            id: c.id as string | null,
            key: [c.priority, c.expiresAt ?? 1e15, c.kind === 'PAID' ? 2 : 0, c.effectiveAt, i],
          })),
      ]
      return all
        .sort((a, b) => {
          const i = a.key.findIndex((value, k) => value !== b.key[k])
          return i < 0 ? 0 : (a.key[i] ?? 0) - (b.key[i] ?? 0)
        })
        .map(({ id }) => id)
    }
    const leftIn = (of: FeatureId, id: string | null): number => {
      const { budget } = plans[of]
      if (id === null) return budget === null ? Number.POSITIVE_INFINITY : Math.max(0, budget - planTaken(of))
      const credit = credits.find((one) => one.id === id)
      return credit && isLive(credit) ? Math.max(0, credit.amount - creditTaken(id)) : 0
    }
    const applies = (cap: { entity: string | null }, entities: string[]) =>
      cap.entity === null || entities.includes(cap.entity)
    const windowOf = (period: CapPeriod, time: number) =>
      new Date(time).toISOString().slice(0, { HOUR: 13, DAY: 10, NEVER: 0 }[period])
    const nameOf = ({ of, entity, period }: NaiveCap) => `${of} ${period} ${entity}`
    /** The user's own, and those of the plan that none of them replaces. */
    const capsNow = (of: FeatureId): NaiveCap[] => {
      const own = caps.filter((cap) => cap.of === of)
      const names = own.map(nameOf)
      const ofPlan = plans[of].caps.flatMap(({ period, limit, perEntity }) => {
        const named =
          perEntity === null ? [null] : ENTITIES.filter((entity) => entity.startsWith(`${perEntity}:`))
        return named.map((entity) => ({ of, entity, period, limit }))
      })
      return [...own, ...ofPlan.filter((cap) => !names.includes(nameOf(cap)))]
    }
    const usedOf = (cap: NaiveCap) =>
      recorded
        .slice(since[nameOf(cap)] ?? 0)
        .filter(
          (one) =>
            one.counted.includes(nameOf(cap)) &&
            applies(cap, one.entities) &&
            windowOf(cap.period, one.at) === windowOf(cap.period, at),
        )
        .reduce((used, one) => Math.max(0, used + one.units), 0)
    /** F counts a unit of P as a part of one. */
    const reservedOf = (cap: NaiveCap) =>
      Math.round(
        units
          .filter(
            ({ of, state, cost }) =>
              typeof state !== 'string' &&
              (of === cap.of || (cap.of === 'F' && cost !== undefined)) &&
              holds(state.reservation) &&
              applies(cap, reservations.get(state.reservation)?.entities ?? []),
          )
          .reduce((sum, { cost = 1 }) => sum + (cap.of === 'F' ? 1 / cost : 1), 0),
      )
    const capRoom = (of: FeatureId, entities: string[]) =>
      Math.min(
        Number.POSITIVE_INFINITY,
        ...capsNow(of)
          .filter((cap) => applies(cap, entities))
          .map((cap) => Math.max(0, cap.limit - usedOf(cap) - reservedOf(cap))),
      )
    const record = (of: FeatureId, amount: number, entities: string[]) =>
      recorded.push({ of, at, units: amount, entities, counted: capsNow(of).map(nameOf) })
    const leftInOwn = (of: FeatureId) => ordered(of).reduce((sum, id) => sum + leftIn(of, id), 0)
    const overageLeft = (of: FeatureId): number => {
      const { budget, overage, overageCap } = plans[of]
      if (!overage || budget === null) return 0
      return overageCap === null
        ? Number.POSITIVE_INFINITY
        : Math.max(0, overageCap - Math.max(0, planTaken(of) - budget))
    }
    const poolRoom = (entities: string[]) => {
      const own = leftInOwn('P') + (plans.F.overage ? 0 : overageLeft('P'))
      return cost === null ? 0 : Math.floor(Math.min(own, capRoom('P', entities)) / cost)
    }
    /** Takes units one by one; false: some are missing. */
    const takeUnits = (
      of: FeatureId,
      amount: number,
      state: Unit['state'],
      beyond: boolean,
      entities: string[],
    ): boolean => {
      if (!beyond && amount > capRoom(of, entities)) return false
      const before = [units.length, claims.length, drawn.length, recorded.length]
      const takeOne = (from: FeatureId, more: Pick<Unit, 'cost'>): boolean => {
        const source = ordered(from).find((id) => leftIn(from, id) > 0)
        if (source === undefined && overageLeft(from) === 0) return false
        units.push({ of: from, source: source ?? null, period: nowOf(from), state, ...more })
        return true
      }
      for (let n = 0; n < amount; n++) {
        if (leftInOwn(of) > 0) takeOne(of, {})
        else if (of === 'F' && cost !== null && poolRoom(entities) > 0) {
          for (let k = 0; k < cost; k++) {
            takeOne('P', { cost })
            const { source = null, period = 0 } = units.at(-1) ?? {}
            if (state === 'used') claims.push({ during: nowOf('F'), source, period, cost })
          }
          if (state === 'used') drawn.push(nowOf('F'))
          if (state === 'used') record('P', cost, entities)
        } else if (overageLeft(of) > 0) units.push({ of, source: null, period: nowOf(of), state })
        else if (beyond) units.push({ of, source: null, period: nowOf(of), state: 'owed' })
        else {
          for (const [i, list] of [units, claims, drawn, recorded].entries()) list.length = before[i] ?? 0
          return false
        }
      }
      if (state === 'used' && amount !== 0) record(of, amount, entities)
      return true
    }
    const usedNow = (of: FeatureId) =>
      units.filter(
        (u) =>
          typeof u.state === 'string' &&
          u.of === of &&
          u.period === nowOf(of) &&
          (u.source === null || credits.find(({ id }) => id === u.source)?.voidedAt === null),
      )
    const drawnNow = () => drawn.filter((during) => during === nowOf('F')).length
    const usedInAll = (of: FeatureId) => usedNow(of).length + (of === 'F' ? drawnNow() : 0)
    const beyondBudget = (of: FeatureId) => {
      const { budget } = plans[of]
      const ofPlan = usedNow(of).filter(({ source }) => source === null)
      return budget === null ? 0 : Math.max(0, ofPlan.length - budget)
    }
    const removeOne = (of: FeatureId, from: Unit[]) => {
      const gone = from.find(({ state }) => state === 'used') ?? from[0]
      units.splice(units.indexOf(gone as Unit), 1)
      // What is owed never exceeds what is used beyond the budget and a limited overage.
      const owed = usedNow(of).filter(({ state }) => state === 'owed')
      const { overage, overageCap } = plans[of]
      const most = Math.max(0, beyondBudget(of) - (overage ? (overageCap ?? 0) : 0))
      for (const unit of owed.slice(most)) unit.state = 'used'
    }
    const returnOwn = (of: FeatureId, isBeyond: boolean): boolean => {
      const own = usedNow(of)
      const source = isBeyond
        ? null
        : ordered(of)
            .reverse()
            .find((id) => own.some((unit) => unit.source === id))
      if (source === undefined) return false
      removeOne(
        of,
        own.filter((unit) => unit.source === source),
      )
      return true
    }
    /** Returns one unit of F to P: of the cost that was first used last. */
    const returnDrawn = (): boolean => {
      if (cost === null) return false
      const own = claims.filter(({ during }) => during === nowOf('F'))
      const costs = [...new Set(own.map((claim) => claim.cost))].reverse()
      for (const each of costs) {
        const before = units.map((unit) => ({ ...unit }))
        const removed: (typeof claims)[number][] = []
        for (let k = 0; k < each; k++) {
          const usable = own.filter((claim) => {
            if (claim.cost !== each || removed.includes(claim)) return false
            if (claim.source === null) return claim.period === nowOf('P') && ofSource(null).length > 0
            const isVoid = credits.find(({ id }) => id === claim.source)?.voidedAt !== null
            return !isVoid && ofSource(claim.source).length > 0
          })
          const ofPlan = usable.filter(({ source }) => source === null)
          const order = ordered('P').reverse()
          const source =
            ofPlan.length > 0 && beyondBudget('P') > 0
              ? null
              : order.find((id) => usable.some((claim) => claim.source === id))
          // The one that was used last.
          const claim = usable.findLast((one) => one.source === source)
          if (!claim) break
          removed.push(claim)
          const held = ofSource(claim.source)
          const current = held.filter(({ period }) => period === nowOf('P'))
          removeOne('P', current.length > 0 ? current : held)
        }
        if (removed.length === each) {
          for (const claim of removed) claims.splice(claims.indexOf(claim), 1)
          drawn.splice(drawn.indexOf(nowOf('F')), 1)
          return true
        }
        units.splice(0, units.length, ...before)
      }
      return false
      function ofSource(id: string | null): Unit[] {
        return units.filter(
          (unit) =>
            unit.of === 'P' &&
            unit.source === id &&
            typeof unit.state === 'string' &&
            (id !== null || unit.period === nowOf('P')),
        )
      }
    }
    const returnUnits = (of: FeatureId, amount: number, entities: string[]): boolean => {
      if (amount > usedInAll(of)) return false
      const before = [units, claims, drawn].map((list) => list.map((one) => structuredClone(one)))
      let ofPool = 0
      const beyond = beyondBudget(of)
      for (let n = 0; n < amount; n++) {
        if (n < beyond) returnOwn(of, true)
        else if (of === 'F' && returnDrawn()) ofPool++
        else if (!returnOwn(of, false)) {
          for (const [i, list] of [units, claims, drawn].entries())
            (list as unknown[]).splice(0, list.length, ...(before[i] ?? []))
          return false
        }
      }
      const claimed = (before[1] ?? []).length - claims.length
      if (ofPool > 0) record('P', -claimed, entities)
      record(of, -amount, entities)
      return true
    }
    /** Adds what has changed in this step to what it, or its reservation, has taken. */
    const remember = (id: string, during: number | null, entities: string[]) => {
      const parts = takings.get(id)?.parts ?? new Map<string, number>()
      for (const [key, count] of differences(before, tallyOf())) parts.set(key, (parts.get(key) ?? 0) + count)
      if (parts.size > 0) takings.set(id, { during, parts, entities })
    }
    /** Unit by unit, by the names under which they were counted. */
    const revertOne = (id: string): string => {
      if (reverted.has(id)) return 'again'
      const reservation = reservations.get(id)
      if (reservation?.open && at < reservation.expiresAt) return 'held'
      const taking = takings.get(id)
      if (!taking) return reservation ? 'lapsed' : 'none'
      const { during, entities } = taking
      const parts = [...taking.parts].flatMap(([key, count]) => {
        const part = JSON.parse(key) as Counted
        return part.source !== null || part.period === nowOf(part.of) ? [{ ...part, count }] : []
      })
      if (parts.length === 0) return 'lapsed'
      const isNow = during === null || during === nowOf(on)
      const usedOfSource = (of: FeatureId, source: string | null) =>
        units.filter(
          (u) =>
            u.of === of &&
            u.source === source &&
            typeof u.state === 'string' &&
            (source !== null || u.period === nowOf(of)),
        )
      const wanted = new Map<string, number>()
      for (const { of, source, count } of parts) {
        const key = JSON.stringify([of, source])
        wanted.set(key, (wanted.get(key) ?? 0) + count)
      }
      const whole = (positive: boolean) => {
        const byCost = new Map<number, number>()
        for (const part of parts)
          if (part.count > 0 === positive)
            byCost.set(part.cost ?? 0, (byCost.get(part.cost ?? 0) ?? 0) + Math.abs(part.count))
        const ofPool = [...byCost].filter(([each]) => each > 0)
        return {
          own: byCost.get(0) ?? 0,
          drawn: ofPool.reduce((sum, [each, count]) => sum + Math.floor(count / each), 0),
          tokens: ofPool.reduce((sum, [, count]) => sum + count, 0),
        }
      }
      const taken = whole(false)
      for (const [key, count] of wanted) {
        const [of, source] = JSON.parse(key) as [FeatureId, string | null]
        const left = leftIn(of, source) + (source === null ? overageLeft(of) : 0)
        if (-count > left) return 'refused'
      }
      if (taken.own + taken.drawn > 0 && taken.own + taken.drawn > capRoom(on, entities)) return 'refused'
      if (taken.tokens > 0 && (cost === null || taken.tokens > capRoom('P', entities))) return 'refused'
      for (const [key, count] of wanted) {
        const [of, source] = JSON.parse(key) as [FeatureId, string | null]
        if (count > usedOfSource(of, source).length) return 'refused'
      }
      for (const { of, source, period, cost: each, count } of parts) {
        for (let k = 0; k < count; k++) {
          const all = usedOfSource(of, source)
          const current = all.filter((unit) => unit.period === nowOf(of))
          const earlier = all.filter((unit) => unit.period !== nowOf(of))
          // Units of an earlier period are not missing from this one.
          const first = isNow || of !== on ? current : earlier
          removeOne(of, first.length > 0 ? first : all)
          if (each === null || !isNow) continue
          const claim = claims.findLast(
            (one) =>
              one.during === nowOf('F') &&
              one.source === source &&
              one.cost === each &&
              (source !== null || one.period === period),
          )
          if (claim) claims.splice(claims.indexOf(claim), 1)
        }
        for (let k = 0; k < -count; k++) {
          units.push({ of, source, period: isNow || of !== on ? nowOf(of) : -1, state: 'used' })
          if (each !== null && isNow)
            claims.push({ during: nowOf('F'), source, period: nowOf('P'), cost: each })
        }
      }
      const returned = whole(true)
      if (isNow) {
        for (let k = 0; k < returned.drawn; k++) {
          const place = drawn.indexOf(nowOf('F'))
          if (place >= 0) drawn.splice(place, 1)
        }
        for (let k = 0; k < taken.drawn; k++) drawn.push(nowOf('F'))
      }
      record(on, taken.own + taken.drawn - returned.own - returned.drawn, entities)
      record('P', taken.tokens - returned.tokens, entities)
      reverted.add(id)
      return 'reverted'
    }
    const roomNow = (of: FeatureId, entities: string[]) => {
      const own = leftInOwn(of) + overageLeft(of)
      return Math.min(capRoom(of, entities), own + (of === 'F' ? poolRoom(entities) : 0))
    }
    if (step.do === 'plan') plans[on] = step
    else if (step.do === 'cost') cost = step.cost
    else if (step.do === 'cap') {
      const { entity, period, limit } = step
      const place = caps.findIndex((cap) => cap.of === on && cap.entity === entity && cap.period === period)
      const found = caps[place]
      if (limit === null && found) {
        caps.splice(place, 1)
        if (!capsNow(on).some((cap) => nameOf(cap) === nameOf(found))) since[nameOf(found)] = recorded.length
      } else if (limit !== null && found) found.limit = limit
      else if (limit !== null) caps.push({ of: on, entity, period, limit })
    } else if (step.do === 'add') {
      const credit = { ...step.credit, of: on, bought: step.credit.amount, voidedAt: null }
      credits.push(credit)
      // What a higher limit covers by now is not paid.
      const { overage, overageCap } = plans[on]
      const unpaid = Math.max(0, beyondBudget(on) - (overage ? (overageCap ?? 0) : 0))
      const owed = units.filter((u) => u.of === on && u.state === 'owed' && u.period === nowOf(on))
      for (const unit of owed.slice(0, unpaid)) {
        if (leftIn(on, credit.id) === 0) break
        unit.source = credit.id
        unit.state = 'used'
      }
    } else if (step.do === 'void') {
      const credit = credits.find(({ id }) => id === step.id)
      if (credit && credit.voidedAt === null) credit.voidedAt = at
    } else if (step.do === 'refund') {
      const credit = credits.find(({ id }) => id === step.id)
      if (credit && credit.voidedAt === null) {
        const kept = Math.floor((credit.bought * (100 - step.percent)) / 100)
        credit.amount = Math.min(credit.bought, Math.max(creditTaken(credit.id), kept))
      }
    } else if (step.do === 'revert') answers.push(revertOne(step.of))
    else if (step.do === 'record') {
      const { delta, entities } = step
      answers.push(
        delta < 0 ? returnUnits(on, -delta, entities) : takeUnits(on, delta, 'used', false, entities),
      )
    } else if (step.do === 'set') {
      const change = step.to - usedInAll(on)
      answers.push(change < 0 ? returnUnits(on, -change, []) : takeUnits(on, change, 'used', true, []))
    } else if (step.do === 'reserve') {
      if (reservations.has(step.id)) continue
      const { entities } = step
      const granted = Math.min(step.amount, roomNow(on, entities))
      reservations.set(step.id, { expiresAt: step.expiresAt, open: true, entities })
      if (granted < step.atLeast) reservations.delete(step.id)
      else takeUnits(on, granted, { reservation: step.id }, false, entities)
      answers.push(granted < step.atLeast ? 0 : granted)
    } else {
      const found = reservations.get(step.id)
      if (!found?.open) continue
      const live = at < found.expiresAt
      if (step.do === 'extend')
        answers.push(live && takeUnits(on, step.amount, { reservation: step.id }, false, found.entities))
      else if (step.do === 'release') {
        if (live) found.open = false
      } else {
        const { entities } = found
        const own = units.filter(({ state }) => typeof state !== 'string' && state.reservation === step.id)
        // In the order in which the sources first gave, a pool's last.
        const first = (unit: Unit) =>
          own.findIndex(
            (o) =>
              o.of === unit.of &&
              o.cost === unit.cost &&
              o.source === unit.source &&
              (o.source !== null || o.period === unit.period),
          )
        const firstAt = (cost: number | undefined) => own.findIndex((unit) => unit.cost === cost)
        const isDrawn = (unit: Unit) => (unit.of === 'P' && on === 'F' ? 1 : 0)
        const inOrder = [...own].sort(
          (a, b) => isDrawn(a) - isDrawn(b) || firstAt(a.cost) - firstAt(b.cost) || first(a) - first(b),
        )
        const known = [units, claims, drawn, recorded].map((list) => list.map((one) => structuredClone(one)))
        const wasOpen = found.open
        let settled = 0
        for (let open = live ? [...inOrder] : []; settled < step.amount && open.length > 0; settled++) {
          const each = open[0]?.cost ?? 1
          for (const unit of open.slice(0, each)) {
            unit.state = 'used'
            if (unit.source !== null) unit.period = nowOf(unit.of)
            const { source, period, cost } = unit
            if (cost !== undefined) claims.push({ during: nowOf('F'), source, period, cost })
          }
          if (open[0]?.cost !== undefined) {
            drawn.push(nowOf('F'))
            record('P', each, entities)
          }
          open = open.slice(each)
        }
        if (step.final) found.open = false
        if (settled > 0) record(on, settled, entities)
        const over = step.amount - settled
        const most = step.ifOver === 'CAP' ? Math.min(over, roomNow(on, entities)) : over
        if (takeUnits(on, most, 'used', step.ifOver === 'RECORD', entities)) answers.push(settled + most)
        else {
          for (const [i, list] of [units, claims, drawn, recorded].entries())
            (list as unknown[]).splice(0, list.length, ...(known[i] ?? []))
          found.open = wasOpen
          answers.push('rejected')
          continue
        }
        remember(step.id, null, entities)
      }
    }
    if (step.do === 'record') remember(`${n}`, nowOf(on), step.entities)
    if (step.do === 'set') remember(`${n}`, nowOf(on), [])
    for (const of of ['F', 'P'] as const) {
      const inPool =
        of === 'F' && cost !== null ? Math.floor(Math.min(leftInOwn('P'), capRoom('P', [])) / cost) : 0
      const left = Math.min(leftInOwn(of) + inPool, capRoom(of, []))
      const reserved = units
        .filter(
          (u) =>
            typeof u.state !== 'string' &&
            holds(u.state.reservation) &&
            (of === 'F' && u.of === 'P'
              ? u.cost !== undefined
              : u.of === of && (u.source !== null || u.period === nowOf(of))),
        )
        .reduce((sum, u) => sum + (of === 'F' && u.cost ? 1 / u.cost : 1), 0)
      const sources = [of, ...(of === 'F' && cost !== null ? (['P'] as const) : [])].flatMap((one) =>
        ordered(one).filter((id) => leftIn(one, id) > 0),
      )
      answers.push([Number.isFinite(left) ? left : null, Math.round(reserved), sources])
      answers.push(
        capsNow(of)
          .map((cap) => [`${cap.period} ${cap.entity}`, usedOf(cap), reservedOf(cap)])
          .sort(),
      )
    }
  }
  /** Used units of each source, and those of P that F used, by the text of their description. */
  function tallyOf(): Map<string, number> {
    const tally = new Map<string, number>()
    const count = (counted: Counted) => {
      const key = JSON.stringify(counted)
      tally.set(key, (tally.get(key) ?? 0) + 1)
    }
    for (const { of, source, period, state } of units)
      if (typeof state === 'string')
        count({ of, source, period: source === null ? period : null, cost: null })
    for (const { source, period, cost } of claims)
      count({ of: 'P', source, period: source === null ? period : null, cost })
    return tally
  }
  /** Of P's units only what F took, if it took any: the same units are counted twice. */
  function differences(before: Map<string, number>, after: Map<string, number>): [string, number][] {
    const all = [...new Set([...before.keys(), ...after.keys()])].flatMap((key): [string, number][] => {
      const difference = (after.get(key) ?? 0) - (before.get(key) ?? 0)
      return difference === 0 ? [] : [[key, difference]]
    })
    const isDrawn = all.some(([key]) => (JSON.parse(key) as Counted).cost !== null)
    return all.filter(([key]) => {
      const { of, cost } = JSON.parse(key) as Counted
      return !isDrawn || of === 'F' || cost !== null
    })
  }
  const used = units.filter(({ state }) => typeof state === 'string')
  const counters: Record<string, number> = {}
  for (const { of, source, period } of used)
    if (source === null) counters[`${of} ${period}`] = (counters[`${of} ${period}`] ?? 0) + 1
  return {
    answers,
    credits: Object.fromEntries(
      credits.map(({ id }) => [id, used.filter(({ source }) => source === id).length]),
    ),
    counters,
  }
}

describe('spending', () => {
  const histories = Number(process.env.TOLLGATE_SPENDING_HISTORIES ?? 400)

  it(`${histories} histories end as a naive replay of them says`, { timeout: 600_000 }, () => {
    for (let seed = 1; seed <= histories; seed++) {
      const steps = historyOf(seed)
      expectSame(byRule(steps), byReplay(steps), () => `seed ${seed}: ${JSON.stringify(steps)}`)
    }
  })

  const credit = (id: string, more: Partial<HeldCredit> = {}): HeldCredit => ({
    ...{
      id,
      amount: 5,
      used: 0,
      kind: 'PAID',
      priority: 50,
      effectiveAt: 0,
      expiresAt: null,
      voidedAt: null,
    },
    ...{ seq: 1, period: null, periodUsed: 0, reserved: 0, reason: null, ...more },
  })
  const purse = (budget: number | null, credits: HeldCredit[], more: Partial<Purse> = {}): Purse => ({
    allowance: { budget, overageEnabled: false, resetPeriod: 'DAY' },
    period: { start: 0, end: PERIODS.F },
    ...{ used: 0, owed: 0, planReserved: 0, drawnReserved: 0, credits, caps: [], pool: null },
    ...{ drawn: { units: 0, parts: [] }, ...more },
  })
  const amounts = (parts: readonly Part[] | undefined) => parts?.map(({ credit, amount }) => [credit, amount])

  it('a revert of a call restores its sources', () => {
    const before = purse(4, [credit('a', { priority: 1 }), credit('b')])
    const taken = take(before, 11, 0, 'REFUSE')
    expect(amounts(taken?.parts)).toEqual([
      ['a', 5],
      [null, 4],
      ['b', 2],
    ])
    const back = taken && giveBack(taken.purse, 11)
    expect(amounts(back?.parts)).toEqual([
      ['b', -2],
      [null, -4],
      ['a', -5],
    ])
    expect(back?.purse.used).toBe(0)
    expect(back?.purse.credits.map(({ used }) => used)).toEqual([0, 0])
  })

  it('after the revert of an earlier call, no more can be returned than is still used', () => {
    // Two were taken and returned in the last period, and three in this one.
    const before = purse(0, [credit('a', { used: 3, period: `DAY ${PERIODS.F}`, periodUsed: 3 })], {
      period: { start: PERIODS.F, end: 2 * PERIODS.F },
    })
    const call = { featureId: 'F', during: 'DAY 0', parts: [{ credit: 'a', amount: 2 }], entities: [] }
    const made = revert(before, call, PERIODS.F)
    if ('refused' in made) throw new Error(made.refused)
    expect(made.purse.credits[0]).toMatchObject({ used: 1, periodUsed: 1 })
    expect(giveBack(made.purse, 2)).toBeNull()
    expect(giveBack(made.purse, 1)?.purse.credits[0]).toMatchObject({ used: 0, periodUsed: 0 })
  })

  it('a revert of which a part has lapsed counts only whole units in the caps', () => {
    const draw = { featureId: 'P', cost: 3 }
    const cap = { entity: null, period: 'NEVER' as const, limit: 9, windowStart: 0, used: 4, reserved: 0 }
    const pool = purse(0, [credit('p', { used: 5 })], { period: { start: PERIODS.P, end: 2 * PERIODS.P } })
    const before = purse(0, [], { caps: [cap], pool: { ...draw, open: true, purse: pool } })
    const parts = [
      { credit: 'p', amount: 4, pool: draw },
      { credit: null, amount: 2, period: 'DAY 0', pool: draw },
    ]
    const made = revert(before, { featureId: 'F', during: 'DAY 0', parts, entities: [] }, 0)
    if ('refused' in made) throw new Error(made.refused)
    expect(made.purse.caps[0]).toMatchObject({ used: 3 })
    expect(made.purse.pool?.purse.credits[0]).toMatchObject({ used: 1 })
  })

  it('the counter never exceeds 2^53-1', () => {
    const full = purse(null, [], { used: Number.MAX_SAFE_INTEGER })
    expect(take(full, 1, 0, 'RECORD')).toBeNull()
    expect(applySpending(full, { action: 'ADD', delta: 1 }, 0)).toMatchObject({
      ...{ recorded: false, reason: 'Usage cannot exceed 9007199254740991.' },
    })
  })
})
