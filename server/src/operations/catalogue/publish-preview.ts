import type { Access } from '../../domain/access.ts'
import { catalogueWith } from '../../domain/catalogue.ts'
import { packageNotFound } from '../../domain/errors.ts'
import { LONG_REQUEST_DEADLINE_MS } from '../../domain/limits.ts'
import {
  type AccessChange,
  accessChange,
  counterOf,
  type StandingChange,
  standingChanges,
  type TouchedFeature,
  touchedFeatures,
} from '../../domain/publish-impact.ts'
import { type Db, lookUpKeys, type Tx, transaction } from '../../store/database.ts'
import {
  type Counter,
  holders,
  liveSubscribers,
  type Person,
  peopleOf,
  type Subscriber,
  usedOf,
} from '../../store/subscribers.ts'
import { foundApp } from '../apps/apps.ts'
import type { Call } from '../call/call.ts'
import { type KeyedPage, keyAfter, pageSize, unknownCursor } from '../call/pages.ts'
import { catalogueOf } from './catalogue.ts'

/** What happens to a feature for one user. */
interface FeatureTouch {
  featureId: string
  change: AccessChange
  before: Access
  after: Access
}

export type Touch = Person & FeatureTouch

export type FeatureImpact = TouchedFeature & { name: string; gain: number; lose: number }

export interface PublishPreview {
  subscribers: number
  gain: number
  lose: number
  features: FeatureImpact[]
  touched: KeyedPage<Touch>
}

/**
 * How publishing the draft affects the package's subscribers: who gains or loses one more of a feature, as of now.
 * Subscribers are read in chunks, so that memory does not grow with their number.
 */
export async function publishPreview(
  call: Call,
  packageId: string,
  first: number | null | undefined,
): Promise<PublishPreview> {
  const { appId } = call
  const size = pageSize(first)
  const draft = await draftOf(call, packageId)
  return lookingUp(call, async (tx) => {
    const features = new Map(
      draft.touched.map((t) => [
        t.featureId,
        { ...t, name: draft.catalogues.before.features.get(t.featureId)?.name ?? '', gain: 0, lose: 0 },
      ]),
    )
    let [subscribers, gain, lose] = [0, 0, 0]
    const page = new TouchPage(size)
    for await (const stretch of touches(tx, draft, 0)) {
      for (const one of stretch) {
        const { touched } = one
        subscribers += 1
        if (touched.some(({ change }) => change === 'GAINS')) gain += 1
        if (touched.some(({ change }) => change === 'LOSES')) lose += 1
        for (const { featureId, change } of touched) {
          const feature = features.get(featureId)
          if (feature) feature[change === 'GAINS' ? 'gain' : 'lose'] += 1
        }
        page.take(one)
      }
    }
    return {
      subscribers,
      gain,
      lose,
      features: [...features.values()],
      touched: await page.result(tx, appId),
    }
  })
}

/** The next page of affected subscribers. */
export async function publishTouched(
  call: Call,
  packageId: string,
  first: number | null | undefined,
  after: string,
): Promise<KeyedPage<Touch>> {
  const { appId } = call
  const page = new TouchPage(pageSize(first))
  const draft = await draftOf(call, packageId)
  const from = placeOf(after)
  return lookingUp(call, async (tx) => {
    for (const change of CHANGES.slice(CHANGES.indexOf(from.change))) {
      const seq = change === from.change ? from.seq : 0
      for await (const stretch of touches(tx, draft, seq)) {
        for (const one of stretch) if (changeOf(one) === change) page.take(one)
        if (page.full) return page.result(tx, appId)
      }
    }
    return page.result(tx, appId)
  })
}

/** Everything is looked up by key: an app that has grown since the last statistics must not take minutes. */
function lookingUp<T>({ service, deadline }: Call, work: (tx: Tx) => Promise<T>): Promise<T> {
  deadline?.renew(LONG_REQUEST_DEADLINE_MS)
  return transaction(service.patient, async (tx) => {
    await lookUpKeys(tx)
    return work(tx)
  })
}

/** Those who lose something come first, then those who only gain. */
const CHANGES = ['LOSES', 'GAINS'] as const

const changeOf = ({ touched }: TouchedSubscriber): AccessChange | null =>
  CHANGES.find((change) => touched.some((touch) => touch.change === change)) ?? null

/** A page cursor: "LOSES 17" is subscriber 17 among those who lose. */
function placeOf(text: string): { change: AccessChange; seq: number } {
  const [name, seq = ''] = text.split(' ')
  const change = CHANGES.find((known) => known === name)
  if (!change) throw unknownCursor()
  return { change, seq: keyAfter(seq) }
}

/** Contains whole subscribers, so that the next page starts after one. */
class TouchPage {
  readonly #size: number
  readonly #taken: Record<AccessChange, TouchedSubscriber[]> = { LOSES: [], GAINS: [] }

  constructor(size: number) {
    this.#size = size
  }

  /** At most a page of each kind, plus one to know whether there are more. */
  take(one: TouchedSubscriber): void {
    const change = changeOf(one)
    if (change && this.#taken[change].length <= this.#size) this.#taken[change].push(one)
  }

  /** Enough that later ones of the same kind change nothing. */
  get full(): boolean {
    return this.#taken.LOSES.length + this.#taken.GAINS.length > this.#size
  }

  async result(db: Db, appId: string): Promise<KeyedPage<Touch>> {
    const taken = CHANGES.flatMap((change) => this.#taken[change])
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
        return person ? losesFirst(touched).map((touch) => ({ ...person, ...touch })) : []
      }),
      next: last && taken.length > shown.length ? `${changeOf(last)} ${last.subscriber.seq}` : null,
    }
  }
}

const losesFirst = (touched: readonly FeatureTouch[]): FeatureTouch[] =>
  CHANGES.flatMap((change) => touched.filter((touch) => touch.change === change))

type Draft = Awaited<ReturnType<typeof draftOf>>

async function draftOf(call: Call, packageId: string) {
  const { appId } = call
  const { now } = await foundApp(call.service.pool, appId)
  const before = await catalogueOf(call)
  const found = before.packages.get(packageId)
  if (!found) throw packageNotFound(packageId)
  const edit = found.draft ?? found
  const touched = touchedFeatures(found.features, edit.features)
  const after = catalogueWith(before, packageId, edit, 'ALL', now)
  return { appId, packageId, now, touched, catalogues: { before, after } }
}

const NOTHING = { live: [], overrides: null }

/** Deciding about this many blocks other requests for some ten milliseconds. */
const STRETCH = 2_000

interface TouchedSubscriber {
  subscriber: Subscriber
  touched: FeatureTouch[]
}

async function* touches(db: Db, draft: Draft, after: number): AsyncGenerator<TouchedSubscriber[]> {
  const { appId, packageId, now } = draft
  let last = after
  for (;;) {
    const subscribers = await liveSubscribers(db, appId, packageId, now, last, STRETCH)
    const end = subscribers.at(-1)
    if (!end) return
    last = end.seq
    const held = await holders(
      db,
      appId,
      subscribers.map(({ uid }) => uid),
      now,
    )
    const featureIds = draft.touched.map(({ featureId }) => featureId)
    const changes = subscribers.flatMap((subscriber) =>
      standingChanges(draft.catalogues, featureIds, held.get(subscriber.uid) ?? NOTHING, now).map(
        (change) => ({
          uid: subscriber.uid,
          change,
        }),
      ),
    )
    const used = await usedBy(db, appId, changes)
    let at = 0
    yield subscribers.map((subscriber) => {
      const touched = featureIds.flatMap((featureId): FeatureTouch[] => {
        const { change } = changes[at] as Change
        const made = accessChange(change, used[at] as Used)
        at += 1
        return made ? [{ featureId, ...made }] : []
      })
      return { subscriber, touched }
    })
  }
}

interface Change {
  uid: number
  change: StandingChange
}

interface Used {
  before: number
  after: number
}

/** The usage of each, in the period before the change and in the one after. */
async function usedBy(db: Db, appId: string, changes: readonly Change[]): Promise<Used[]> {
  const counters: Counter[] = []
  const places = changes.map(({ uid, change: { featureId, before, after } }) => {
    const place = (counter: ReturnType<typeof counterOf>) =>
      counter && counters.push({ uid, featureId, ...counter }) - 1
    const [was, is] = [counterOf(before), counterOf(after)]
    const placed = place(was)
    // Nearly always the same counter: only another reset period counts elsewhere.
    const same = was?.resetPeriod === is?.resetPeriod && was?.periodStart === is?.periodStart
    return { before: placed, after: same ? placed : place(is) }
  })
  const used = await usedOf(db, appId, counters)
  const at = (place: number | null) => (place === null ? 0 : (used[place] ?? 0))
  return places.map(({ before, after }) => ({ before: at(before), after: at(after) }))
}
