import { type Catalogue, countedPeriodsOf } from '../../domain/catalogue.ts'
import { dayOf, eventData, type NewEvent, nextSequence } from '../../domain/event.ts'
import { MAX_COPIED_EVENTS, MAX_FANOUT_USERS, MAX_PUBLISHED_ROWS } from '../../domain/limits.ts'
import { entitlementOf } from '../../domain/package.ts'
import { periodEnd } from '../../domain/package-version.ts'
import type { Change } from '../../domain/row-change.ts'
import { changesEntitlements, eventsOfRows } from '../../domain/row-events.ts'
import { appMoments } from '../../store/apps/apps.ts'
import { loadApp } from '../../store/catalogue/catalogue.ts'
import { type Pool, type Tx, transactionOnce } from '../../store/connection/database.ts'
import { moveDue, planEntitlements } from '../../store/events/due-events.ts'
import {
  beginPublishing,
  copyFromOutbox,
  endPublishing,
  eraseEvents,
  insertEvents,
  type Sequenced,
} from '../../store/events/event-log.ts'
import { prepareEventDays } from '../../store/events/event-partitions.ts'
import { deleteFromOutbox, insertFanout, type OutboxRow, readOutbox } from '../../store/events/outbox.ts'
import { liveSubscribers, peopleOf } from '../../store/subscriptions/subscribers.ts'
import { dueEvents } from './due-events.ts'
import { entitlementEvents } from './entitlement-events.ts'

/** The events of one publication: the sequences `from` to `to`. */
interface Published {
  from: number
  to: number
  events: number
}

interface Publishing {
  /** Called in the transaction of the publication, with the new events. */
  onPublished?: (tx: Tx, published: Published) => Promise<void>
  /** rows of the outbox per publication */
  most?: number
}

/**
 * Publishes the oldest rows of the outbox, in one transaction. Null: another process is publishing. `rows` is the number of
 * rows that are done with.
 */
export function publishEvents(
  pool: Pool,
  { onPublished, most = MAX_PUBLISHED_ROWS }: Publishing = {},
): Promise<{ rows: number; published: Published | null } | null> {
  return transactionOnce(pool, async (tx) => {
    const position = await beginPublishing(tx)
    if (!position) return null
    await moveDue(tx, most)
    const rows = atMost(MAX_COPIED_EVENTS, onlyOneFanout(await readOutbox(tx, most)))
    if (rows.length === 0) return { rows: 0, published: null }

    const { raw, made, erased } = await new Publication(tx, rows).compose()
    const day = dayOf(position.now)
    const from = nextSequence(position.last, day)
    await prepareEventDays(tx, [day, day + 1])
    let sequence = from
    const copies: { id: number; sequence: number }[] = []
    const events: Sequenced[] = []
    for (const one of [...raw, ...made].sort((a, b) => a.place - b.place)) {
      if ('event' in one) events.push({ ...one.event, sequence: sequence++ })
      else {
        copies.push({ id: one.id, sequence })
        sequence += one.events
      }
    }
    await copyFromOutbox(tx, copies)
    await insertEvents(tx, events)
    for (const { appId, uid } of erased) await eraseEvents(tx, appId, uid)
    await deleteFromOutbox(
      tx,
      rows.map(({ id }) => id),
    )
    const count = sequence - from
    if (count === 0) return { rows: rows.length, published: null }
    const published = { from, to: sequence - 1, events: count }
    await endPublishing(tx, published.to)
    await onPublished?.(tx, published)
    return { rows: rows.length, published }
  })
}

/** Each of the others waits for its turn, so that a publication stays short. */
function onlyOneFanout(rows: OutboxRow[]): OutboxRow[] {
  const first = rows.find(({ kind }) => kind === 'FANOUT')
  return rows.filter((row) => row.kind !== 'FANOUT' || row === first)
}

/** The first rows, as long as they contain few events. The rows of one transaction are published together. */
function atMost(most: number, rows: OutboxRow[]): OutboxRow[] {
  let events = 0
  const end = rows.findIndex((row, i) => {
    const isFull = events >= most && row.txn !== rows[i - 1]?.txn
    events += row.events
    return isFull
  })
  if (end === -1) return rows
  const begun = new Set(rows.slice(0, end).map(({ txn }) => txn))
  return rows.filter(({ txn }) => begun.has(txn))
}

/** Whether the row contains its events. */
const isReady = ({ kind }: OutboxRow): boolean => kind === 'EVENT' || kind === 'USAGE'

/** An event, or a row of the outbox that contains some, and its place among all of a publication. */
type Placed = { place: number }

interface AppNow {
  appId: string
  catalogue: Catalogue
  now: number
}

/** The rows of one publication, and their events. */
class Publication {
  readonly #tx: Tx
  readonly #rows: readonly OutboxRow[]
  readonly #apps = new Map<string, AppNow>()
  readonly #userIds = new Map<string, string>()
  /** users whose entitlements changed, by app */
  readonly #entitled = new Map<string, Set<number>>()

  constructor(tx: Tx, rows: readonly OutboxRow[]) {
    this.#tx = tx
    this.#rows = rows
  }

  async compose() {
    await this.#readApps()
    await this.#readUserIds()
    const raw: (Placed & { id: number; events: number })[] = []
    const made: (Placed & { event: NewEvent })[] = []
    const add = (place: number, events: readonly NewEvent[]) => {
      for (const event of events) made.push({ place, event })
    }
    const changes = new Map<string, { place: number; changes: Change[] }>()
    const due: (OutboxRow & { kind: 'DUE' })[] = []
    for (const [place, row] of this.#rows.entries()) {
      const app = this.#apps.get(row.appId)
      if (!app) continue
      if (row.kind === 'EVENT' || row.kind === 'USAGE') raw.push({ place, id: row.id, events: row.events })
      else if (row.kind === 'DUE') due.push(row)
      else if (row.kind === 'HISTORY') await this.#beginFanout(row)
      else if (row.kind === 'FANOUT') await this.#fanOut(app, row)
      else {
        const change = { ...row, userId: row.userId ?? this.#userIdOf(row.appId, row.userUid) }
        const together = changes.get(row.txn)
        if (together) together.changes.push(change)
        else changes.set(row.txn, { place, changes: [change] })
        if (changesEntitlements(change)) this.#entitle(row.appId, row.userUid)
      }
    }
    for (const { place, changes: together } of changes.values())
      add(place, this.#withGrants(eventsOfRows(together)))
    const reached = await dueEvents(this.#tx, due, (appId, uid) => this.#userIdOf(appId, uid))
    for (const { row, events, entitles } of reached) {
      add(this.#rows.indexOf(row), events)
      if (entitles) this.#entitle(row.appId, row.userUid)
    }
    const erased = this.#rows.flatMap(({ appId, kind, operation, userUid: uid }) =>
      kind === 'USER' && operation === 'DELETE' && uid !== null ? [{ appId, uid }] : [],
    )
    for (const { appId, uid } of erased) this.#entitled.get(appId)?.delete(uid)
    for (const [appId, uids] of this.#entitled) {
      const app = this.#apps.get(appId)
      if (app) add(this.#rows.length, await this.#entitlements(app, [...uids]))
    }
    return { raw, made, erased }
  }

  /** An app that is being deleted has no events. */
  async #readApps(): Promise<void> {
    const ids = [...new Set(this.#rows.map(({ appId }) => appId))]
    const moments = await appMoments(this.#tx, ids)
    const needed = new Set(this.#rows.flatMap((row) => (isReady(row) ? [] : [row.appId])))
    for (const [appId, now] of moments) {
      const loaded = needed.has(appId) ? await loadApp(this.#tx, appId) : null
      this.#apps.set(appId, { appId, now, catalogue: loaded?.catalogue ?? EMPTY })
    }
  }

  /** Ids of the users of rows that do not name them. */
  async #readUserIds(): Promise<void> {
    const unnamed = new Map<string, Set<number>>()
    for (const row of this.#rows)
      if (!isReady(row) && row.userUid !== null && row.userId === null) addTo(unnamed, row.appId, row.userUid)
    for (const [appId, uids] of unnamed) await this.#findUsers(appId, [...uids])
  }

  async #findUsers(appId: string, uids: readonly number[]): Promise<void> {
    for (const [uid, { userId }] of await peopleOf(this.#tx, appId, uids))
      this.#userIds.set(`${appId} ${uid}`, userId)
  }

  #userIdOf(appId: string, uid: number | null): string | null {
    return uid === null ? null : (this.#userIds.get(`${appId} ${uid}`) ?? null)
  }

  #entitle(appId: string, uid: number | null): void {
    if (uid !== null) addTo(this.#entitled, appId, uid)
  }

  /** Packages with their current grants. */
  #withGrants(events: readonly NewEvent[]): NewEvent[] {
    return events.map((event) => {
      if (event.type !== 'package.published' && event.type !== 'package.archived') return event
      return packageObject(event, this.#apps.get(event.appId)?.catalogue ?? EMPTY)
    })
  }

  /** Entitlements of subscribers change with a publication or migration, unless it is for new subscribers only. */
  async #beginFanout({ appId, after }: OutboxRow): Promise<void> {
    if (after?.reach === 'NEW_ONLY' || typeof after?.packageId !== 'string') return
    await insertFanout(this.#tx, appId, { packageId: after.packageId, after: 0 })
  }

  async #fanOut({ appId, catalogue, now }: AppNow, { after }: OutboxRow): Promise<void> {
    const packageId = String(after?.packageId)
    const from = Number(after?.after)
    const some = await liveSubscribers(this.#tx, appId, packageId, now, from, MAX_FANOUT_USERS)
    for (const { uid } of some) this.#entitle(appId, uid)
    const last = some.at(-1)
    if (some.length === MAX_FANOUT_USERS && last)
      await insertFanout(this.#tx, appId, { packageId, after: last.seq })
    const awaiting = catalogue.histories
      .get(packageId)
      ?.entries.some(({ reach }) => reach === 'AT_PERIOD_END')
    if (!awaiting) return
    const ends = some.map((subscriber) => {
      const periods = countedPeriodsOf(catalogue, { ...subscriber, packageId }, now)
      return { uid: subscriber.uid, at: periodEnd(subscriber.anchor, periods, now) }
    })
    await planEntitlements(this.#tx, appId, ends)
  }

  async #entitlements(app: AppNow, uids: readonly number[]): Promise<NewEvent[]> {
    await this.#findUsers(app.appId, uids)
    const known = uids.flatMap((uid) => {
      const userId = this.#userIdOf(app.appId, uid)
      return userId === null ? [] : [[uid, userId] as const]
    })
    return entitlementEvents(this.#tx, app, new Map(known))
  }
}

const EMPTY: Catalogue = { features: new Map(), packages: new Map(), grants: new Map(), histories: new Map() }

function addTo(sets: Map<string, Set<number>>, key: string, value: number): void {
  const set = sets.get(key) ?? new Set()
  sets.set(key, set.add(value))
}

/** The event of a package, with the grants of the package at the time when the event is published in the log. */
function packageObject(event: NewEvent, catalogue: Catalogue): NewEvent {
  const { object, previous } = event.data
  const found = catalogue.packages.get(String(object.id))
  if (!found) return event
  const features = found.features.map(entitlementOf)
  const { isAddon, metadata } = found
  return { ...event, data: eventData({ ...object, isAddon, metadata, features }, previous) }
}
