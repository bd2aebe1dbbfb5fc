import type { Access } from '../../domain/access.ts'
import { catalogueWith } from '../../domain/catalogue.ts'
import { packageNotFound } from '../../domain/errors.ts'
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
  liveSubscribers,
  liveSubscriptions,
  type Person,
  peopleOf,
  type Subscriber,
  usedOf,
} from '../../store/subscribers.ts'
import { foundApp } from './apps.ts'
import { catalogueOf } from './catalogue.ts'
import type { MemberCall } from './member-call.ts'
import { type KeyedPage, keyAfter, pageSize } from './pages.ts'

/** What becomes of a feature for somebody. */
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
 * What publishing the draft does to those who hold the package: who gains or loses one more of a feature, as
 * things stand now. All subscribers are gone through in stretches, so that it takes no more memory for many.
 */
export async function publishPreview(
  call: MemberCall,
  appId: string,
  packageId: string,
  first: number | null | undefined,
): Promise<PublishPreview> {
  const size = pageSize(first)
  const draft = await draftOf(call, appId, packageId)
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
      for (const { subscriber, touched } of stretch) {
        subscribers += 1
        if (touched.some(({ change }) => change === 'GAINS')) gain += 1
        if (touched.some(({ change }) => change === 'LOSES')) lose += 1
        for (const { featureId, change } of touched) {
          const feature = features.get(featureId)
          if (feature) feature[change === 'GAINS' ? 'gain' : 'lose'] += 1
        }
        page.take(subscriber, touched)
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

/** The rest of those who gain or lose. */
export async function publishTouched(
  call: MemberCall,
  appId: string,
  packageId: string,
  first: number | null | undefined,
  after: string,
): Promise<KeyedPage<Touch>> {
  const size = pageSize(first)
  const draft = await draftOf(call, appId, packageId)
  return lookingUp(call, async (tx) => {
    const page = new TouchPage(size)
    for await (const stretch of touches(tx, draft, keyAfter(after))) {
      for (const { subscriber, touched } of stretch) page.take(subscriber, touched)
      if (page.full) break
    }
    return page.result(tx, appId)
  })
}

/** Everything is found by its key: an app that has grown since the statistics were made must not take minutes. */
function lookingUp<T>({ service }: MemberCall, work: (tx: Tx) => Promise<T>): Promise<T> {
  return transaction(service.pool, async (tx) => {
    await lookUpKeys(tx)
    return work(tx)
  })
}

/** Holds whole subscribers, so that a page goes on after one of them. */
class TouchPage {
  readonly #size: number
  readonly #rows: (FeatureTouch & { uid: number })[] = []
  #last = 0
  #more = false

  constructor(size: number) {
    this.#size = size
  }

  get full(): boolean {
    return this.#more
  }

  take({ seq, uid }: Subscriber, touched: readonly FeatureTouch[]): void {
    if (touched.length === 0) return
    if (this.#rows.length >= this.#size) {
      this.#more = true
      return
    }
    this.#rows.push(...touched.map((touch) => ({ uid, ...touch })))
    this.#last = seq
  }

  async result(db: Db, appId: string): Promise<KeyedPage<Touch>> {
    const people = await peopleOf(
      db,
      appId,
      this.#rows.map(({ uid }) => uid),
    )
    const rows = this.#rows.flatMap(({ uid, ...touch }) => {
      const person = people.get(uid)
      return person ? [{ ...person, ...touch }] : []
    })
    return { rows, next: this.#more ? String(this.#last) : null }
  }
}

type Draft = Awaited<ReturnType<typeof draftOf>>

async function draftOf(call: MemberCall, appId: string, packageId: string) {
  const { now } = await foundApp(call.service.pool, appId)
  const before = await catalogueOf(call, appId)
  const found = before.packages.get(packageId)
  if (!found) throw packageNotFound(packageId)
  const edit = found.draft ?? found
  const touched = touchedFeatures(found.features, edit.features)
  const after = catalogueWith(before, packageId, edit)
  return { appId, packageId, now, touched, catalogues: { before, after } }
}

/** What is decided about them at once keeps others waiting, for some ten milliseconds. */
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
    const live = await liveSubscriptions(
      db,
      appId,
      subscribers.map(({ uid }) => uid),
      now,
    )
    const featureIds = draft.touched.map(({ featureId }) => featureId)
    const changes = subscribers.flatMap((subscriber) =>
      standingChanges(draft.catalogues, featureIds, live.get(subscriber.uid) ?? [], now).map((change) => ({
        uid: subscriber.uid,
        change,
      })),
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

/** What was used of each, in the period that counts before and in the one that counts after. */
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
