import { randomUUID } from 'node:crypto'
import {
  type Catalogue,
  catalogueWithHistory,
  checkRoomInHistory,
  countedPeriodsOf,
  versionOf,
} from '../../domain/catalogue.ts'
import type { ChangeTime } from '../../domain/change-time.ts'
import { quote, TollgateError } from '../../domain/errors.ts'
import { isIdentifier } from '../../domain/identifier.ts'
import { checkMigration, checkUndo, type MigrationStatus, reachOf, statusOf } from '../../domain/migration.ts'
import type { Entitlement, Package } from '../../domain/package.ts'
import { periodEnd } from '../../domain/package-version.ts'
import type { Reach } from '../../domain/publication.ts'
import { touchedFeatures } from '../../domain/publish-impact.ts'
import {
  addToHistory,
  type HistoryRow,
  markUndone,
  packageHistory,
  packageOfMigration,
} from '../../store/catalogue/package-history.ts'
import type { HomeDb } from '../../store/connection/places.ts'
import type { Subscriber } from '../../store/subscriptions/subscribers.ts'
import { type Call, momentOf } from '../call/call.ts'
import { earlierAnswer, mutateCatalogue } from '../call/mutate.ts'
import { requirePackage } from '../call/require.ts'
import { authorOf } from './publish-package.ts'
import { type FeatureImpact, type Impact, impactOf, lookingUp, type Reaching } from './reach.ts'

/** A migration of subscriptions from one version of a package to another. */
export interface Migration {
  /** null: a dry run */
  id: string | null
  packageId: string
  fromVersion: number
  toVersion: number
  when: Exclude<ChangeTime, 'BEST'>
  at: number
  status: MigrationStatus
  /** number of live subscriptions that it moves, and that it has moved */
  subscriptions: number
  moved: number
  /** number of them that gain or lose access to at least one feature */
  gains: number
  loses: number
  /** number of them whose overage increases or decreases */
  moreOverage: number
  lessOverage: number
  features: FeatureImpact[]
  undoneAt: number | null
}

interface MigrationInput {
  packageId: string
  fromVersion: number
  toVersion: number
  when: ChangeTime
}

/**
 * Moves all subscriptions from one version of a package to another, now or each at the end of its period. It is one
 * entry in the package's history that every reader applies, so all are moved by one commit, or none.
 */
export async function migrateSubscriptions(call: Call, input: MigrationInput): Promise<Migration> {
  const { packageId, fromVersion, toVersion, when } = input
  const answered = await earlierAnswer<Migration>(call)
  if (answered) return answered.value
  const preview = await migrationPreview(call, input)
  const id = `mig_${randomUUID()}`
  const reach = reachOf(when)
  let at = preview.at
  return mutateCatalogue(
    call,
    async (tx, { catalogue }, now) => {
      const found = requirePackage(catalogue, packageId)
      checkMigration(found, fromVersion, toVersion)
      checkRoomInHistory(catalogue, packageId)
      const entry = nextEntry(found, fromVersion, toVersion, reach, now)
      await addToHistory(tx, call.appId, packageId, { ...entry, id, author: authorOf(call), note: null })
      at = now
    },
    () => ({ ...preview, id, at, status: statusOf(null, preview.subscriptions, preview.moved) }),
  )
}

export async function migrationPreview(
  call: Call,
  { packageId, fromVersion, toVersion, when }: MigrationInput,
): Promise<Migration> {
  const { app, now } = await momentOf(call)
  const found = requirePackage(app.catalogue, packageId)
  checkMigration(found, fromVersion, toVersion)
  const history = await packageHistory(call.service.pool, call.appId, packageId)
  const entry = nextEntry(found, fromVersion, toVersion, reachOf(when), now)
  return { ...(await measured(call, app.catalogue, packageId, history, entry, now)), status: 'DRY_RUN' }
}

/** The current state of a migration. */
export async function migration(call: Call, id: string): Promise<Migration> {
  const { app, now } = await momentOf(call)
  const { packageId, history, entry } = await requireMigration(call.service.pool, call.appId, id)
  return measured(call, app.catalogue, packageId, history, entry, now)
}

/** Restores all subscriptions that the migration has moved, and moves no more. Undoing it again changes nothing. */
export async function undoMigration(call: Call, id: string): Promise<Migration> {
  const answered = await earlierAnswer<Migration>(call)
  if (answered) return answered.value
  const before = await migration(call, id)
  let undoneAt = before.undoneAt
  return mutateCatalogue(
    call,
    async (tx, _before, now) => {
      const { history, entry } = await requireMigration(tx, call.appId, id)
      undoneAt = entry.undoneAt
      if (undoneAt !== null) return
      checkUndo(history, entry)
      await markUndone(tx, call.appId, id, now)
      undoneAt = now
    },
    () => ({ ...before, undoneAt, moved: 0, status: 'UNDONE' as const }),
  )
}

async function requireMigration(db: HomeDb, appId: string, id: string) {
  const packageId = isIdentifier(id) ? await packageOfMigration(db, appId, id) : null
  const history = packageId === null ? [] : await packageHistory(db, appId, packageId)
  const entry = history.find((e) => e.id === id)
  if (packageId === null || !entry) {
    throw new TollgateError('MIGRATION_NOT_FOUND', `Migration not found: ${quote(id)}`)
  }
  return { packageId, history, entry }
}

const nextEntry = ({ history }: Package, from: number, to: number, reach: Reach, at: number): HistoryRow => ({
  position: history + 1,
  kind: 'MIGRATED',
  from,
  to,
  reach,
  at,
  features: null,
  id: null,
  author: null,
  note: null,
  undoneAt: null,
})

async function measured(
  call: Call,
  catalogue: Catalogue,
  packageId: string,
  history: readonly HistoryRow[],
  entry: HistoryRow,
  now: number,
): Promise<Migration> {
  const reaching = migrating(call.appId, catalogue, packageId, history, entry, now)
  const { reached, moved, gain, lose, moreOverage, lessOverage, features }: Impact = await lookingUp(
    call,
    (tx) => impactOf(tx, reaching),
  )
  const { id, from, to, reach, at, undoneAt } = entry
  return {
    id,
    packageId,
    fromVersion: from,
    toVersion: to,
    when: reach === 'ALL' ? 'NOW' : 'PERIOD_END',
    at,
    status: statusOf(undoneAt, reached, moved),
    subscriptions: reached,
    moved: undoneAt === null ? moved : 0,
    gains: gain,
    loses: lose,
    moreOverage,
    lessOverage,
    features,
    undoneAt,
  }
}

/** The effect of a migration on the history, whether it has happened, was undone, or is a preview. */
function migrating(
  appId: string,
  catalogue: Catalogue,
  packageId: string,
  history: readonly HistoryRow[],
  entry: HistoryRow,
  now: number,
): Reaching {
  const others = history.filter((e) => e.position !== entry.position && e.undoneAt === null)
  // The history at the time of the decision. Later publications are kept for the grants of earlier versions.
  const earlier = others.flatMap((e): HistoryRow[] => {
    if (e.position < entry.position) return [e]
    return e.kind === 'PUBLISHED' ? [{ ...e, reach: 'NEW_ONLY' }] : []
  })
  const decided = catalogueWithHistory(catalogue, packageId, earlier)
  const movesAt = ({ anchor, version, versionAsOf }: Subscriber): number | null => {
    const held = { packageId, anchor, version, versionAsOf }
    if (versionAsOf >= entry.position || versionOf(decided, held, entry.at) !== entry.from) return null
    if (entry.reach === 'ALL') return entry.at
    return periodEnd(anchor, countedPeriodsOf(decided, held, entry.at), entry.at)
  }
  const granted = (version: number): readonly Entitlement[] =>
    history.find((e) => e.kind === 'PUBLISHED' && e.from === version)?.features ??
    requirePackage(catalogue, packageId).features
  const inOrder = [...others, entry].sort((a, b) => a.position - b.position)
  return {
    appId,
    packageId,
    now,
    touched: touchedFeatures(granted(entry.from), granted(entry.to)),
    catalogues: {
      before: catalogueWithHistory(catalogue, packageId, others),
      after: catalogueWithHistory(catalogue, packageId, inOrder),
    },
    movesAt,
  }
}
