/**
 * Invariants: those of `spending.ts`. Histories are replayed by a second, naive implementation, which keeps no state but the
 * history itself: for every step it goes through all earlier ones, one unit at a time.
 */
import { describe, expect, it } from 'vitest'
import { type CountedCap, countInCaps } from './cap.ts'
import type { CreditKind } from './credit.ts'
import { entitiesOf, extend, reserve, settle } from './reservation.ts'
import {
  currentPeriod,
  giveBack,
  type HeldCredit,
  type HeldPart,
  heldOf,
  merged,
  type Part,
  type Purse,
  purseOf,
  remaining,
  roomOf,
  type Spending,
  sourcesOf,
  spent,
  take,
} from './spending.ts'
import { applySpending, consumptionFrom, decideSpending, payOwed } from './spending-calls.ts'

const MINUTE = 60_000
const PERIOD = 100 * MINUTE
const ENTITIES = ['team:1', 'team:2', 'agent:1', 'agent:2']

interface NewCredit {
  id: string
  amount: number
  kind: CreditKind
  priority: number
  effectiveAt: number
  expiresAt: number | null
}

type Step = { at: number } & (
  | { do: 'add'; credit: NewCredit }
  | { do: 'void'; id: string }
  | { do: 'record'; delta: number; entities: string[] }
  | { do: 'set'; to: number }
  | { do: 'reserve'; id: string; amount: number; atLeast: number; expiresAt: number; entities: string[] }
  | { do: 'extend'; id: string; amount: number }
  | { do: 'settle'; id: string; amount: number; final: boolean; ifOver: 'RECORD' | 'CAP' | 'REJECT' }
  | { do: 'release'; id: string }
  | { do: 'plan'; budget: number | null; overage: boolean }
  /** null: removed */
  | { do: 'cap'; entity: string | null; period: CapPeriod; limit: number | null }
)
type CapPeriod = 'HOUR' | 'DAY' | 'NEVER'

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
  const steps: Step[] = [{ at: 0, do: 'plan', budget: upTo(12), overage: next() < 0.15 }]
  let at = 0
  for (let i = 0; i < 18; i++) {
    at += next() < 0.5 ? 0 : upTo(30)
    if (next() < 0.15) {
      const entity = one([null, null, ...ENTITIES])
      const limit = one([null, 0, 4 + upTo(20), 4 + upTo(20)])
      steps.push({ at, do: 'cap', entity, period: one(['HOUR', 'DAY', 'NEVER'] as const), limit })
      continue
    }
    const entities = ENTITIES.filter(() => next() < 0.4)
    const roll = next()
    const id = String(upTo(4))
    if (roll < 0.22) {
      const credit = {
        ...{ id: `c${i}`, amount: 1 + upTo(8), kind: one(['PAID', 'PROMOTIONAL'] as const) },
        ...{ priority: one([10, 50, 50, 60]), effectiveAt: at + one([0, 0, 0, 20]) },
        expiresAt: one([null, at + 40, at + 21 + upTo(100)]),
      }
      steps.push({ at, do: 'add', credit })
    } else if (roll < 0.26) steps.push({ at, do: 'void', id: `c${upTo(i)}` })
    else if (roll < 0.5) steps.push({ at, do: 'record', delta: one([1, 2, 5, 9, 15, -1, -3, -7]), entities })
    else if (roll < 0.55) steps.push({ at, do: 'set', to: upTo(25) })
    else if (roll < 0.7) {
      const amount = 1 + upTo(12)
      steps.push({
        at,
        do: 'reserve',
        id,
        amount,
        atLeast: 1 + upTo(amount - 1),
        expiresAt: at + 1 + upTo(80),
        entities,
      })
    } else if (roll < 0.75) steps.push({ at, do: 'extend', id, amount: 1 + upTo(5) })
    else if (roll < 0.9) {
      const ifOver = one(['RECORD', 'CAP', 'REJECT'] as const)
      steps.push({ at, do: 'settle', id, amount: upTo(12), final: next() < 0.5, ifOver })
    } else if (roll < 0.95) steps.push({ at, do: 'release', id })
    else steps.push({ at, do: 'plan', budget: one([null, 0, upTo(20)]), overage: next() < 0.2 })
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

const startOf = (at: number) => Math.floor(at / PERIOD) * PERIOD

/** What a history leads to, told by both implementations in the same words. */
interface Outcome {
  answers: unknown[]
  credits: Record<string, number>
  counters: Record<number, number>
}

/** By the rule. What the store keeps is kept in maps. */
function byRule(steps: readonly Step[]): Outcome {
  const answers: unknown[] = []
  const counters: Record<number, number> = {}
  const credits = new Map<string, HeldCredit>()
  const reservations = new Map<string, { parts: HeldPart[]; expiresAt: number; state: string }>()
  let plan: { budget: number | null; overage: boolean } = { budget: 0, overage: false }
  const caps = new Map<string, CountedCap>()
  let owed: Spending['owed'] = null
  for (const step of steps) {
    const { at } = step
    const period = { start: startOf(at), end: startOf(at) + PERIOD }
    const allowanceNow = () => ({
      ...{ budget: plan.budget, overageEnabled: plan.overage },
      resetPeriod: 'DAY' as const,
    })
    const heldWithout = (id: string | null) =>
      [...reservations].flatMap(([key, { parts, expiresAt, state }]) =>
        key !== id && state === 'HELD' && at < expiresAt ? parts : [],
      )
    const purse = (held: HeldPart[] = heldWithout(null)) =>
      purseOf(
        { allowance: allowanceNow(), period },
        counters[period.start] ?? 0,
        {
          ...{ owed, held, credits: [...credits.values()], caps: [...caps.values()] },
        },
        at,
      )
    const keep = (after: Purse) => {
      counters[period.start] = after.used
      for (const { reserved, ...cap } of after.caps) caps.set(`${cap.period} ${cap.entity}`, cap)
      for (const { reserved, ...credit } of after.credits) credits.set(credit.id, { ...credit, reserved: 0 })
      if (after.owed > 0 || owed?.period === currentPeriod(after))
        owed = { amount: after.owed, period: currentPeriod(after) }
    }
    if (step.do === 'plan') plan = step
    else if (step.do === 'cap') {
      const { entity, period, limit } = step
      const name = `${period} ${entity}`
      if (limit === null) caps.delete(name)
      else caps.set(name, { ...(caps.get(name) ?? { windowStart: 0, used: 0 }), entity, period, limit })
    } else if (step.do === 'add') {
      const { credit } = step
      credits.set(credit.id, {
        ...{ ...credit, seq: credits.size, used: 0, voidedAt: null },
        ...{ period: null, periodUsed: 0, reserved: 0 },
      })
      keep(payOwed(purse(), credit.id, at).purse)
    } else if (step.do === 'void') {
      const credit = credits.get(step.id)
      if (credit && credit.voidedAt === null) credits.set(step.id, { ...credit, voidedAt: at })
    } else if (step.do === 'record' || step.do === 'set') {
      const call =
        step.do === 'record'
          ? { action: 'ADD' as const, delta: step.delta, entities: step.entities }
          : { action: 'SET' as const, delta: step.to }
      const before = purse()
      const { recorded, parts, purse: after } = applySpending(before, call, at)
      if (step.do === 'record' && step.delta >= 0)
        expect(decideSpending(METERED, before, step.delta, at, step.entities).access).toBe(recorded)
      if (recorded) {
        keep(after)
        expect(parts.reduce((sum, { amount }) => sum + amount, 0)).toBe(
          step.do === 'record' ? step.delta : step.to - usedIn(before),
        )
      } else expect(after).toEqual(before)
      answers.push(recorded)
    } else if (step.do === 'reserve') {
      if (reservations.has(step.id)) continue
      const parts = reserve(purse(), step.amount, step.atLeast, at, step.entities)
      if (parts) reservations.set(step.id, { parts, expiresAt: step.expiresAt, state: 'HELD' })
      answers.push(parts ? heldOf(parts) : 0)
    } else {
      const found = reservations.get(step.id)
      if (found?.state !== 'HELD') continue
      const live = at < found.expiresAt
      if (step.do === 'extend') {
        const parts = live ? extend(purse(), found.parts, step.amount, at) : null
        if (parts) found.parts = parts
        answers.push(parts !== null)
      } else if (step.do === 'release') found.state = live ? 'RELEASED' : 'HELD'
      else {
        const done = settle(live ? found.parts : [], step.amount)
        const before = purse([...heldWithout(step.id), ...(step.final || !live ? [] : done.parts)])
        const current = done.settled.filter(
          ({ credit, period }) => credit !== null || period === currentPeriod(before),
        )
        const over = step.amount - done.settled.reduce((sum, { amount }) => sum + amount, 0)
        const entities = entitiesOf(found.parts)
        const counted = countInCaps(before.caps, entities, step.amount - over)
        const burnt = { ...spent(before, current), caps: counted }
        const most = step.ifOver === 'CAP' ? Math.min(over, roomOf(burnt, at, entities)) : over
        const taken = take(burnt, most, at, step.ifOver === 'RECORD' ? 'RECORD' : 'REFUSE', entities)
        answers.push(taken ? step.amount - over + most : 'rejected')
        if (!taken) continue
        keep(taken.purse)
        expect(merged([...current, ...taken.parts]).every(({ amount }) => amount > 0)).toBe(true)
        for (const { credit, period, amount } of done.settled) {
          if (credit !== null || period === currentPeriod(before)) continue
          const start = Number(period?.split(' ')[1])
          counters[start] = (counters[start] ?? 0) + amount
        }
        if (live) found.parts = done.parts
        if (step.final) found.state = 'SETTLED'
      }
    }
    const after = purse()
    for (const credit of after.credits)
      expect(credit.used + (credit.voidedAt === null ? credit.reserved : 0)).toBeLessThanOrEqual(
        credit.amount,
      )
    const { reserved } = consumptionFrom(after, at)
    answers.push([remaining(after, at), reserved, sourcesOf(after, at).map(({ id }) => id)])
    answers.push(after.caps.map(({ period, entity, used, reserved }) => [period, entity, used, reserved]))
  }
  return {
    answers,
    credits: Object.fromEntries([...credits].map(([id, { used }]) => [id, used])),
    counters: Object.fromEntries(Object.entries(counters).filter(([, used]) => used > 0)),
  }
}

const usedIn = (purse: Purse): number =>
  purse.used +
  purse.credits.reduce(
    (sum, { period, periodUsed, voidedAt }) =>
      sum + (period === currentPeriod(purse) && voidedAt === null ? periodUsed : 0),
    0,
  )

const METERED = {
  kind: 'metered',
  allowance: { budget: 0, overageEnabled: false, resetPeriod: 'DAY' },
  anchor: 0,
  period: { start: 0, end: PERIOD },
  byOverride: false,
} as const

/** One unit, with everything that ever happened to it. */
interface Unit {
  /** null: the plan */
  source: string | null
  /** of the plan, or in which it was taken from a credit */
  period: number
  state: 'used' | 'owed' | { reservation: string }
}

/** Naively: a list of units, sorted and counted anew for each of them. */
function byReplay(steps: readonly Step[]): Outcome {
  const answers: unknown[] = []
  const units: Unit[] = []
  const credits: (NewCredit & { voidedAt: number | null })[] = []
  const reservations = new Map<string, { expiresAt: number; open: boolean; entities: string[] }>()
  /** each as if all of history were read again */
  const caps: { entity: string | null; period: CapPeriod; limit: number; since: number }[] = []
  const recorded: { at: number; units: number; entities: string[] }[] = []
  let plan: { budget: number | null; overage: boolean } = { budget: 0, overage: false }
  for (const step of steps) {
    const { at } = step
    const now = startOf(at)
    const holds = (id: string) => {
      const found = reservations.get(id)
      return found?.open === true && at < found.expiresAt
    }
    const counts = ({ state }: Unit) => typeof state === 'string' || holds(state.reservation)
    const isLive = ({ voidedAt, effectiveAt, expiresAt }: (typeof credits)[number]) =>
      voidedAt === null && effectiveAt <= at && (expiresAt === null || at < expiresAt)
    const planTaken = () => units.filter((u) => u.source === null && u.period === now && counts(u)).length
    const creditTaken = (id: string) => units.filter((u) => u.source === id && counts(u)).length
    /** All sources in the order of the rule, written out. */
    const ordered = () => {
      const all = [
        { id: null as string | null, key: [50, now + PERIOD, 1, now, -1] },
        ...credits.map((c, i) => ({
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
    const hasRoom = (id: string | null) => {
      if (id === null) return plan.budget === null || planTaken() < plan.budget
      const credit = credits.find((one) => one.id === id)
      return credit !== undefined && isLive(credit) && creditTaken(id) < credit.amount
    }
    const applies = (cap: { entity: string | null }, entities: string[]) =>
      cap.entity === null || entities.includes(cap.entity)
    const windowOf = (period: CapPeriod, time: number) =>
      new Date(time).toISOString().slice(0, { HOUR: 13, DAY: 10, NEVER: 0 }[period])
    const usedOf = (cap: (typeof caps)[number]) =>
      recorded
        .slice(cap.since)
        .filter(
          (one) => applies(cap, one.entities) && windowOf(cap.period, one.at) === windowOf(cap.period, at),
        )
        .reduce((used, one) => Math.max(0, used + one.units), 0)
    const reservedOf = (cap: (typeof caps)[number]) =>
      units.filter(
        ({ state }) =>
          typeof state !== 'string' &&
          holds(state.reservation) &&
          applies(cap, reservations.get(state.reservation)?.entities ?? []),
      ).length
    const capRoom = (entities: string[]) =>
      Math.min(
        Number.POSITIVE_INFINITY,
        ...caps
          .filter((cap) => applies(cap, entities))
          .map((cap) => Math.max(0, cap.limit - usedOf(cap) - reservedOf(cap))),
      )
    /** Takes units one by one; false: some are missing. */
    const takeUnits = (
      amount: number,
      state: Unit['state'],
      beyond: boolean,
      entities: string[],
    ): boolean => {
      if (!beyond && amount > capRoom(entities)) return false
      const before = units.length
      for (let n = 0; n < amount; n++) {
        const source = ordered().find(hasRoom)
        if (source !== undefined) units.push({ source, period: now, state })
        else if (plan.overage) units.push({ source: null, period: now, state })
        else if (beyond) units.push({ source: null, period: now, state: 'owed' })
        else {
          units.length = before
          return false
        }
      }
      return true
    }
    const usedNow = () =>
      units.filter(
        (u) =>
          typeof u.state === 'string' &&
          u.period === now &&
          (u.source === null || credits.find(({ id }) => id === u.source)?.voidedAt === null),
      )
    const returnUnits = (amount: number): boolean => {
      if (amount > usedNow().length) return false
      for (let n = 0; n < amount; n++) {
        const own = usedNow()
        const ofPlan = own.filter(({ source }) => source === null)
        const source =
          plan.budget !== null && ofPlan.length > plan.budget
            ? null
            : ordered()
                .reverse()
                .find((id) => own.some((unit) => unit.source === id))
        const candidates = own.filter((unit) => unit.source === source)
        const gone = candidates.find(({ state }) => state === 'used') ?? candidates[0]
        units.splice(units.indexOf(gone as Unit), 1)
        // What is owed never exceeds what is used beyond the budget.
        const left = usedNow().filter((unit) => unit.source === null)
        const beyond = plan.budget === null ? 0 : Math.max(0, left.length - plan.budget)
        const owed = left.filter(({ state }) => state === 'owed')
        for (const unit of owed.slice(beyond)) unit.state = 'used'
      }
      return true
    }
    const roomNow = (entities: string[]) => {
      if (plan.overage || plan.budget === null) return capRoom(entities)
      const before = units.length
      let room = 0
      while (room < capRoom(entities) && takeUnits(1, 'used', false, [])) room++
      units.length = before
      return room
    }
    /** Recorded usage, as caps see it. */
    const record = (done: boolean, amount: number, entities: string[]) => {
      if (done) recorded.push({ at, units: amount, entities })
      answers.push(done)
    }
    if (step.do === 'plan') plan = step
    else if (step.do === 'cap') {
      const { entity, period, limit } = step
      const place = caps.findIndex((cap) => cap.entity === entity && cap.period === period)
      const found = caps[place]
      if (limit === null) place >= 0 && caps.splice(place, 1)
      else if (found) found.limit = limit
      else caps.push({ entity, period, limit, since: recorded.length })
    } else if (step.do === 'add') {
      const credit = { ...step.credit, voidedAt: null }
      credits.push(credit)
      for (const unit of units.filter(({ state, period }) => state === 'owed' && period === now)) {
        if (!hasRoom(credit.id)) break
        unit.source = credit.id
        unit.state = 'used'
      }
    } else if (step.do === 'void') {
      const credit = credits.find(({ id }) => id === step.id)
      if (credit && credit.voidedAt === null) credit.voidedAt = at
    } else if (step.do === 'record')
      record(
        step.delta < 0 ? returnUnits(-step.delta) : takeUnits(step.delta, 'used', false, step.entities),
        step.delta,
        step.entities,
      )
    else if (step.do === 'set') {
      const change = step.to - usedNow().length
      record(change < 0 ? returnUnits(-change) : takeUnits(change, 'used', true, []), change, [])
    } else if (step.do === 'reserve') {
      if (reservations.has(step.id)) continue
      const { entities } = step
      const granted = Math.min(step.amount, roomNow(entities))
      reservations.set(step.id, { expiresAt: step.expiresAt, open: true, entities })
      if (granted < step.atLeast) reservations.delete(step.id)
      else takeUnits(granted, { reservation: step.id }, false, entities)
      answers.push(granted < step.atLeast ? 0 : granted)
    } else {
      const found = reservations.get(step.id)
      if (!found?.open) continue
      const live = at < found.expiresAt
      if (step.do === 'extend')
        answers.push(live && takeUnits(step.amount, { reservation: step.id }, false, found.entities))
      else if (step.do === 'release') {
        if (live) found.open = false
      } else {
        const own = units.filter(({ state }) => typeof state !== 'string' && state.reservation === step.id)
        // In the order in which the sources first gave.
        const first = (unit: Unit) =>
          own.findIndex((o) => o.source === unit.source && (o.source !== null || o.period === unit.period))
        const settling = live ? [...own].sort((a, b) => first(a) - first(b)).slice(0, step.amount) : []
        const before = units.map((unit) => ({ ...unit }))
        const wasOpen = found.open
        for (const unit of settling) {
          unit.state = 'used'
          if (unit.source !== null) unit.period = now
        }
        if (step.final) found.open = false
        const { entities } = found
        recorded.push({ at, units: settling.length, entities })
        const over = step.amount - settling.length
        const most = step.ifOver === 'CAP' ? Math.min(over, roomNow(entities)) : over
        if (takeUnits(most, 'used', step.ifOver === 'RECORD', entities)) {
          answers.push(settling.length + most)
          recorded.push({ at, units: most, entities })
        } else {
          recorded.pop()
          units.splice(0, units.length, ...before)
          found.open = wasOpen
          answers.push('rejected')
          continue
        }
      }
    }
    const left = () => {
      if (plan.budget === null) return capRoom([]) < Number.POSITIVE_INFINITY ? capRoom([]) : null
      const ofPlan = Math.max(0, plan.budget - planTaken())
      const ofCredits = credits.filter(isLive).map(({ id, amount }) => Math.max(0, amount - creditTaken(id)))
      return Math.min(
        ofCredits.reduce((sum, one) => sum + one, ofPlan),
        capRoom([]),
      )
    }
    const reserved = units.filter(
      (u) =>
        typeof u.state !== 'string' && holds(u.state.reservation) && (u.source !== null || u.period === now),
    ).length
    answers.push([left(), reserved, ordered().filter(hasRoom)])
    answers.push(caps.map((cap) => [cap.period, cap.entity, usedOf(cap), reservedOf(cap)]))
  }
  const used = units.filter(({ state }) => typeof state === 'string')
  const counters: Record<number, number> = {}
  for (const { source, period } of used) if (source === null) counters[period] = (counters[period] ?? 0) + 1
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
      expect(byRule(steps), `seed ${seed}: ${JSON.stringify(steps)}`).toEqual(byReplay(steps))
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
    ...{ seq: 1, period: null, periodUsed: 0, reserved: 0, ...more },
  })
  const purse = (budget: number | null, credits: HeldCredit[], more: Partial<Purse> = {}): Purse => ({
    allowance: { budget, overageEnabled: false, resetPeriod: 'DAY' },
    period: { start: 0, end: PERIOD },
    ...{ used: 0, owed: 0, planReserved: 0, credits, caps: [], ...more },
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

  it('the counter never exceeds 2^53-1', () => {
    const full = purse(null, [], { used: Number.MAX_SAFE_INTEGER })
    expect(take(full, 1, 0, 'RECORD')).toBeNull()
    expect(applySpending(full, { action: 'ADD', delta: 1 }, 0)).toMatchObject({
      ...{ recorded: false, reason: 'Usage cannot exceed 9007199254740991.' },
    })
  })
})
