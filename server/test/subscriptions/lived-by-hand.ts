import type { ResetPeriod } from '../../src/domain/period.ts'
import { periodByHand } from '../harness/by-hand.ts'

// One user's life as it should be told, replayed by hand: one plan after the other, each in the version that the history of
// its package comes to, an exception for each feature, and a map from period to usage.

export const PLANS: Record<string, { limit: number; resetPeriod: ResetPeriod } | null> = {
  small: { limit: 6, resetPeriod: 'MONTH' },
  large: { limit: 20, resetPeriod: 'MONTH' },
  daily: { limit: 4, resetPeriod: 'DAY' },
  endless: { limit: 30, resetPeriod: 'NEVER' },
  bare: null,
}
/** The plan that also grants the binary feature. */
export const EXPORTING = 'large'

export type Reach = 'ALL' | 'NEW_ONLY' | 'AT_PERIOD_END'

interface Decision {
  /** null: a publication, which concerns every version */
  from: number | null
  to: number
  reach: Reach
  at: number
  migration: string | null
  undone: boolean
}

/** What has become of the packages: limits by version, and whom each decision concerned. */
export class Shelf {
  readonly #limits = new Map(Object.entries(PLANS).map(([plan, grant]) => [plan, [grant?.limit ?? 0]]))
  readonly #decisions = new Map<string, Decision[]>(Object.keys(PLANS).map((plan) => [plan, []]))

  versions = (plan: string): number => this.#limits.get(plan)?.length ?? 0
  limit = (plan: string, version: number): number => this.#limits.get(plan)?.[version - 1] ?? 0
  decisions = (plan: string): readonly Decision[] => this.#decisions.get(plan) ?? []

  publish(plan: string, limit: number, reach: Reach, at: number): void {
    this.#limits.get(plan)?.push(limit)
    this.#decide(plan, { from: null, to: this.versions(plan), reach, at, migration: null })
  }

  migrate(
    plan: string,
    move: { from: number; to: number; reach: Reach; at: number; migration: string },
  ): void {
    this.#decide(plan, move)
  }

  #decide(plan: string, decision: Omit<Decision, 'undone'>): void {
    this.#decisions.get(plan)?.push({ ...decision, undone: false })
  }

  /** The last migration, and whether it can be undone: nobody has been moved on by a publication for all since. */
  lastMigration(plan: string): { migration: string; undo: () => void; allowed: boolean } | null {
    const all = this.decisions(plan)
    const at = all.findLastIndex(({ migration, undone }) => migration !== null && !undone)
    const last = all[at]
    if (!last || last.migration === null) return null
    const allowed = !all.slice(at + 1).some(({ from, reach }) => from === null && reach === 'ALL')
    return {
      migration: last.migration,
      allowed,
      undo: () => {
        last.undone = true
      },
    }
  }

  /** What somebody has who bought it when so many decisions had been made, and when that changes next. */
  held({ plan, bought, after, anchor }: Pick<Held, 'plan' | 'bought' | 'after' | 'anchor'>, clock: number) {
    let version = bought
    let move: { to: number; at: number } | null = null
    const moveBy = (time: number) => {
      if (move === null || move.at > time) return
      version = move.to
      move = null
    }
    for (const { from, to, reach, at, undone } of this.decisions(plan).slice(after)) {
      if (undone) continue
      moveBy(at)
      if (reach === 'NEW_ONLY' || (from !== null && from !== version)) continue
      move = { to, at: reach === 'ALL' ? at : periodByHand(monthly(plan), anchor, at).end }
      moveBy(at)
    }
    moveBy(clock)
    return { version, moves: (move as { at: number } | null)?.at ?? null }
  }
}

/** The longest period that ends; a month where nothing is counted, or for good. */
function monthly(plan: string): ResetPeriod {
  const reset = PLANS[plan]?.resetPeriod ?? 'MONTH'
  return reset === 'NEVER' ? 'MONTH' : reset
}

interface Taken {
  plan: string
  quantity: number
  /** the version it was bought in, and how many decisions had been made about the package */
  bought: number
  after: number
  /** where its periods are counted from, if that is known already */
  anchor?: number
}

interface Held extends Taken {
  anchor: number
  endsAt: number | null
  /** null: it is no trial; it may be cancelled before */
  trialEndsAt: number | null
  next: Taken | null
}

export interface Exception {
  mode: 'REPLACE' | 'ADD' | 'UNLIMITED' | 'GRANT' | 'DENY'
  limit: number | null
  overage: boolean | null
  endsAt: number | null
  since: number
}

/** What happened so far. `clock` tells the time. */
export class Life {
  current: Held | null = null
  readonly #past: { plan: string; anchor: number; last: number }[] = []
  readonly #used = new Map<string, number>()
  readonly #exceptions = new Map<string, Exception>()
  readonly #shelf: Shelf
  readonly #clock: () => number

  constructor(shelf: Shelf, clock: () => number) {
    this.#shelf = shelf
    this.#clock = clock
  }

  taken(plan: string, quantity: number): Taken {
    return {
      plan,
      quantity,
      bought: this.#shelf.versions(plan),
      after: this.#shelf.decisions(plan).length,
    }
  }

  /** A change to a plan, or to another quantity of it, which keeps its version and its periods. */
  changed(plan: string, quantity: number): Taken {
    const { current } = this
    if (current?.plan !== plan) return this.taken(plan, quantity)
    const { bought, after, anchor } = current
    return { plan, quantity, bought, after, anchor }
  }

  /** What the clock has brought about. */
  settle(): void {
    const held = this.current
    if (held?.endsAt == null || held.endsAt > this.#clock()) return
    this.#leave(held, held.endsAt - 1)
    this.current = held.next && { ...this.#started(held.next, held, held.endsAt), endsAt: null }
    this.settle()
  }

  start(taken: Taken, more: Partial<Held> = {}): void {
    const held = this.current
    const clock = this.#clock()
    if (held) this.#leave(held, clock - 1)
    this.current = { ...this.#started(taken, held, clock), ...more }
    // The millisecond of the change may have seen usage.
    if (held) this.#past[this.#past.length - 1] = { plan: held.plan, anchor: held.anchor, last: clock }
  }

  cancel(): void {
    if (this.current) this.#leave(this.current, this.#clock())
    this.current = null
  }

  #leave({ plan, anchor }: Held, last: number): void {
    this.#past.push({ plan, anchor, last })
  }

  #started(taken: Taken, before: Held | null, at: number): Held {
    const anchor = taken.anchor ?? this.#anchor(taken.plan, before, at)
    return { ...taken, anchor, endsAt: null, trialEndsAt: null, next: null }
  }

  #anchor(name: string, before: Held | null, at: number): number {
    const reset = PLANS[name]?.resetPeriod
    if (before && reset && reset !== 'NEVER' && PLANS[before.plan]?.resetPeriod === reset)
      return before.anchor
    const running = [...this.#past]
      .sort((a, b) => b.last - a.last)
      .find(({ plan, anchor, last }) => {
        const own = PLANS[plan]?.resetPeriod
        return own && own !== 'NEVER' && periodByHand(own, anchor, last).end > at
      })
    return running?.anchor ?? at
  }

  /** The exception that is in force. */
  exception(feature: string): Exception | null {
    const found = this.#exceptions.get(feature)
    return found && (found.endsAt === null || this.#clock() < found.endsAt) ? found : null
  }

  except(feature: string, exception: Omit<Exception, 'since'>): void {
    const since = this.exception(feature)?.since ?? this.#clock()
    this.#exceptions.set(feature, { ...exception, since })
  }

  forget(feature: string): void {
    this.#exceptions.delete(feature)
  }

  version(): number | null {
    return this.current && this.#shelf.held(this.current, this.#clock()).version
  }

  /** When another version takes over. */
  moves(): number | null {
    return this.current && this.#shelf.held(this.current, this.#clock()).moves
  }

  /** Of calls: how many there may be (null: any number), and where they are counted; null: none at all. */
  allowed(): { budget: number | null; overage: boolean; counter: string } | null {
    const { current } = this
    const grant = current && PLANS[current.plan]
    const exception = this.exception('call')
    if (exception?.mode === 'DENY' || (!grant && !exception)) return null
    const reset = grant?.resetPeriod ?? 'MONTH'
    const anchor = current?.anchor ?? exception?.since ?? 0
    const counter = `${reset} ${periodByHand(reset, anchor, this.#clock()).start}`
    const granted =
      current && grant ? this.#shelf.limit(current.plan, this.version() ?? 1) * current.quantity : 0
    if (!exception) return { budget: granted, overage: false, counter }
    const { mode, limit, overage } = exception
    const budget = mode === 'REPLACE' ? limit : mode === 'ADD' ? granted + (limit ?? 0) : null
    return { budget, overage: overage ?? false, counter }
  }

  mayExport(): boolean {
    const exception = this.exception('export')
    return exception ? exception.mode === 'GRANT' : this.current?.plan === EXPORTING
  }

  used(): number {
    return this.#used.get(this.allowed()?.counter ?? '') ?? 0
  }

  /** Whether it was recorded. */
  record(delta: number): boolean {
    const allowed = this.allowed()
    if (!allowed) return false
    const { budget, overage, counter } = allowed
    if (budget !== null && !overage && this.used() + delta > budget) return false
    this.#used.set(counter, this.used() + delta)
    return true
  }

  /** When the longest period of the plan ends. */
  periodEnd(): number | null {
    const { current } = this
    return current && periodByHand(monthly(current.plan), current.anchor, this.#clock()).end
  }
}
