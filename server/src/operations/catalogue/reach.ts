import type { Catalogue } from '../../domain/catalogue.ts'
import { LONG_REQUEST_DEADLINE_MS } from '../../domain/limits.ts'
import {
  ACCESS_CHANGES,
  type AccessChange,
  type AccessChanged,
  accessChange,
  counterOf,
  type EntitlementChange,
  entitlementChanges,
  type TouchedFeature,
} from '../../domain/publish-impact.ts'
import { lookUpKeys, type Tx, transaction } from '../../store/connection/database.ts'
import type { HomeDb } from '../../store/connection/places.ts'
import {
  heldAt,
  holders,
  liveSubscribers,
  peopleOf,
  type Subscriber,
  type UserContact,
  type UserCounter,
  usedOf,
} from '../../store/subscriptions/subscribers.ts'
import type { Call } from '../call/call.ts'
import { type KeyedPage, keyAfter, unknownCursor } from '../call/pages.ts'

// The effect of a publication or migration on subscribers: who gains or loses a feature, or whose next use becomes
// overage. Each is judged by their usage at the time of their move, or now if that has passed. Subscribers are read in
// batches, so that memory does not grow with their number.

/** A change of a package's content for its subscribers. */
export interface Reaching {
  appId: string
  packageId: string
  now: number
  /** without the change, and with it */
  catalogues: { before: Catalogue; after: Catalogue }
  touched: readonly TouchedFeature[]
  /** When it applies to the subscriber; null: never. */
  movesAt(subscriber: Subscriber): number | null
}

/** The effect on a feature for one user. */
type FeatureTouch = AccessChanged & { featureId: string }

export type Touch = UserContact & FeatureTouch

/**
 * Number of users who gain or lose access to at least one feature, and of those who can use it, how many get more or
 * less overage.
 */
interface Touches {
  gain: number
  lose: number
  moreOverage: number
  lessOverage: number
}

export type FeatureImpact = TouchedFeature & Touches & { name: string }

export interface Impact extends Touches {
  /** number of subscribers */
  subscribers: number
  /** number of them that it applies to, and that it has applied to by now */
  reached: number
  moved: number
  features: FeatureImpact[]
}

/** Counts all subscribers; `take` is called with each. */
export async function impactOf(
  tx: Tx,
  reaching: Reaching,
  take?: (one: TouchedSubscriber) => void,
): Promise<Impact> {
  const { catalogues, now } = reaching
  const features = new Map(
    reaching.touched.map((t) => [
      t.featureId,
      { ...t, name: catalogues.before.features.get(t.featureId)?.name ?? '', ...UNTOUCHED },
    ]),
  )
  const counts = { subscribers: 0, reached: 0, moved: 0, ...UNTOUCHED }
  for await (const batch of touches(tx, reaching, 0)) {
    for (const one of batch) {
      const { touched, movesAt } = one
      counts.subscribers += 1
      if (movesAt !== null) counts.reached += 1
      if (movesAt !== null && movesAt <= now) counts.moved += 1
      count(counts, touched)
      for (const touch of touched) {
        const feature = features.get(touch.featureId)
        if (feature) count(feature, [touch])
      }
      take?.(one)
    }
  }
  return { ...counts, features: [...features.values()] }
}

const UNTOUCHED: Touches = { gain: 0, lose: 0, moreOverage: 0, lessOverage: 0 }

function count(counts: Touches, touched: readonly FeatureTouch[]): void {
  if (touched.some(({ change }) => change === 'GAINS')) counts.gain += 1
  if (touched.some(({ change }) => change === 'LOSES')) counts.lose += 1
  if (touched.some(({ overage }) => overage === 'MORE')) counts.moreOverage += 1
  if (touched.some(({ overage }) => overage === 'LESS')) counts.lessOverage += 1
}

/** The next page of affected subscribers. */
export async function touchedAfter(
  tx: Tx,
  reaching: Reaching,
  size: number,
  after: TouchCursor,
): Promise<KeyedPage<Touch>> {
  const page = new TouchPage(size)
  for (const change of ACCESS_CHANGES.slice(ACCESS_CHANGES.indexOf(after.change))) {
    const seq = change === after.change ? after.seq : 0
    for await (const batch of touches(tx, reaching, seq)) {
      for (const one of batch) if (changeOf(one) === change) page.take(one)
      if (page.full) return page.result(tx, reaching.appId)
    }
  }
  return page.result(tx, reaching.appId)
}

/** Forces index lookups: an app that has grown since the last statistics must not take minutes. */
export function lookingUp<T>({ service, deadline }: Call, work: (tx: Tx) => Promise<T>): Promise<T> {
  deadline?.renew(LONG_REQUEST_DEADLINE_MS)
  return transaction(service.longQueries, async (tx) => {
    await lookUpKeys(tx)
    return work(tx)
  })
}

/** A subscriber is listed by the most serious effect. */
const changeOf = ({ touched }: TouchedSubscriber): AccessChange | null =>
  ACCESS_CHANGES.find((change) => touched.some((touch) => touch.change === change)) ?? null

interface TouchCursor {
  change: AccessChange
  seq: number
}

/** A page cursor: "LOSES 17" is subscriber 17 among those who lose. */
export function parseTouchCursor(text: string): TouchCursor {
  const [name, seq = ''] = text.split(' ')
  const change = ACCESS_CHANGES.find((known) => known === name)
  if (!change) throw unknownCursor()
  return { change, seq: keyAfter(seq) }
}

/** Contains all entries of a subscriber, so that the next page starts with another one. */
export class TouchPage {
  readonly #size: number
  readonly #taken: Record<AccessChange, TouchedSubscriber[]> = {
    LOSES: [],
    MORE_OVERAGE: [],
    GAINS: [],
    LESS_OVERAGE: [],
  }

  constructor(size: number) {
    this.#size = size
  }

  /** At most a page of each kind, plus one to know whether there are more. */
  take(one: TouchedSubscriber): void {
    const change = changeOf(one)
    if (change && this.#taken[change].length <= this.#size) this.#taken[change].push(one)
  }

  /** Later subscribers of the same kind would change nothing. */
  get full(): boolean {
    return ACCESS_CHANGES.reduce((sum, change) => sum + this.#taken[change].length, 0) > this.#size
  }

  async result(db: HomeDb, appId: string): Promise<KeyedPage<Touch>> {
    const taken = ACCESS_CHANGES.flatMap((change) => this.#taken[change])
    const shown: TouchedSubscriber[] = []
    let rows = 0
    for (const one of taken) {
      if (rows >= this.#size) break
      shown.push(one)
      rows += one.touched.length
    }
    const people = await peopleOf(
      db,
      appId,
      shown.map(({ subscriber }) => subscriber.uid),
    )
    const last = shown.at(-1)
    return {
      rows: shown.flatMap(({ subscriber, touched }) => {
        const person = people.get(subscriber.uid)
        return person ? worstFirst(touched).map((touch) => ({ ...person, ...touch })) : []
      }),
      next: last && taken.length > shown.length ? `${changeOf(last)} ${last.subscriber.seq}` : null,
    }
  }
}

const worstFirst = (touched: readonly FeatureTouch[]): FeatureTouch[] =>
  ACCESS_CHANGES.flatMap((change) => touched.filter((touch) => touch.change === change))

/** Deciding about this many blocks other requests for some ten milliseconds. */
const BATCH_SIZE = 2_000

interface TouchedSubscriber {
  subscriber: Subscriber
  movesAt: number | null
  touched: FeatureTouch[]
}

async function* touches(db: HomeDb, reaching: Reaching, after: number): AsyncGenerator<TouchedSubscriber[]> {
  const { appId, packageId, now, catalogues } = reaching
  const featureIds = reaching.touched.map(({ featureId }) => featureId)
  let last = after
  for (;;) {
    const subscribers = await liveSubscribers(db, appId, packageId, now, last, BATCH_SIZE)
    const end = subscribers.at(-1)
    if (!end) return
    last = end.seq
    const reached = subscribers.map((subscriber) => ({ subscriber, movesAt: reaching.movesAt(subscriber) }))
    const uids = reached.flatMap(({ subscriber, movesAt }) => (movesAt === null ? [] : [subscriber.uid]))
    const held = uids.length > 0 ? await holders(db, appId, uids, now, true) : new Map<number, never>()
    const changes = reached.flatMap(({ subscriber: { uid }, movesAt }) => {
      const holding = held.get(uid)
      if (movesAt === null || !holding) return []
      const at = Math.max(movesAt, now)
      return entitlementChanges(catalogues, featureIds, heldAt(holding, at), at).map((change) => ({
        uid,
        change,
      }))
    })
    const used = await usedBy(db, appId, changes)
    let at = 0
    yield reached.map((one) => {
      if (!held.has(one.subscriber.uid)) return { ...one, touched: [] }
      const touched = featureIds.flatMap((featureId): FeatureTouch[] => {
        const { change } = changes[at] as Change
        const made = accessChange(change, used[at] as Used)
        at += 1
        return made ? [{ featureId, ...made }] : []
      })
      return { ...one, touched }
    })
  }
}

interface Change {
  uid: number
  change: EntitlementChange
}

interface Used {
  before: number
  after: number
}

/** The usage before and after each change. */
export async function usedBy(db: HomeDb, appId: string, changes: readonly Change[]): Promise<Used[]> {
  const counters: UserCounter[] = []
  const indexes = changes.map(({ uid, change: { featureId, before, after } }) => {
    const indexOf = (counter: ReturnType<typeof counterOf>) =>
      counter && counters.push({ uid, featureId, ...counter }) - 1
    const [was, is] = [counterOf(before), counterOf(after)]
    const wasAt = indexOf(was)
    // Nearly always the same counter; only another reset period has another one.
    const same = was?.resetPeriod === is?.resetPeriod && was?.periodStart === is?.periodStart
    return { before: wasAt, after: same ? wasAt : indexOf(is) }
  })
  const used = await usedOf(db, appId, counters)
  const at = (index: number | null) => (index === null ? 0 : (used[index] ?? 0))
  return indexes.map(({ before, after }) => ({ before: at(before), after: at(after) }))
}
