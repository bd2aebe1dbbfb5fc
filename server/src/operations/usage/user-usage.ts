import { type Access, decideAccess } from '../../domain/access.ts'
import type { Catalogue } from '../../domain/catalogue.ts'
import type { Feature } from '../../domain/feature.ts'
import { limitSources } from '../../domain/limit-sources.ts'
import type { ResetPeriod } from '../../domain/period.ts'
import type { Sentence } from '../../domain/sentence.ts'
import { creditTotals, leftInPool } from '../../domain/sources.ts'
import { type UserEntitlement, userEntitlement } from '../../domain/user-entitlement.ts'
import { countRetiredEntries, type LedgerRow, ledgerOfUser } from '../../store/ledger/ledger.ts'
import { holders, usedOf } from '../../store/subscriptions/subscribers.ts'
import { requireApp } from '../apps/apps.ts'
import type { Call } from '../call/call.ts'
import type { EntitlementState } from '../call/hot-paths.ts'
import { type KeyedPage, keyBefore, pageOf, pageSize } from '../call/pages.ts'
import { requireFeature, requireUser } from '../call/require.ts'
import { catalogueOf } from '../catalogue/catalogue.ts'
import { accessOf } from './can-use-feature.ts'
import { limitSentence } from './limit-sentence.ts'
import { readEntitlements } from './read-entitlements.ts'

/** A user's entitlement to one feature: of their packages, or because credits or a pool pay for it. */
export interface GrantedFeature extends Access {
  feature: Feature
  /** units left in its credits; null: nothing but the plan pays */
  creditsLeft: number | null
  /** units that its pool can pay for; null: it has none, or any number */
  poolLeft: number | null
  resetPeriod: ResetPeriod | null
  periodStart: number | null
  /** null: it never ends, or the feature is binary */
  periodEnd: number | null
  /** where the limit, or the access to a binary feature, comes from */
  source: Sentence
}

export async function grantedFeatures(call: Call, userId: string): Promise<GrantedFeature[]> {
  const { appId } = call
  const { pool } = call.service
  const { now } = await requireApp(pool, appId)
  const catalogue = await catalogueOf(call)
  const { uid } = await requireUser(pool, appId, userId)
  const holder = (await holders(pool, appId, [uid], now)).get(uid) ?? null
  const spending = await spendingStates(call, catalogue, userId)
  const granted = [...catalogue.features.values()]
    .map((feature) => ({ feature, entitlement: userEntitlement(catalogue, feature.id, holder, now) }))
    .filter(({ feature, entitlement }) => entitlement.kind !== 'none' || spending.has(feature.id))
  const sourceOf = (featureId: string, entitlement: UserEntitlement) =>
    holder
      ? limitSentence({ appId, catalogue }, entitlement, limitSources(catalogue, featureId, holder, now))
      : []
  const used = await usedOf(
    pool,
    appId,
    granted.map(({ feature, entitlement }) => ({
      uid,
      featureId: feature.id,
      resetPeriod: entitlement.kind === 'metered' ? entitlement.allowance.resetPeriod : 'NEVER',
      periodStart: entitlement.kind === 'metered' ? entitlement.period.start : 0,
    })),
  )
  return granted.map(({ feature, entitlement }, i) => {
    const state = spending.get(feature.id)
    const { access, reason, reasonCode, consumption } = state
      ? accessOf(state, 1)
      : decideAccess(entitlement, used[i] ?? 0, 1)
    return {
      ...{ access, reason, reasonCode, consumption },
      feature,
      creditsLeft: state?.purse ? creditTotals(state.purse, state.now).left : null,
      poolLeft: state?.purse?.pool ? leftInPool(state.purse, state.now) : null,
      resetPeriod: entitlement.kind === 'metered' ? entitlement.allowance.resetPeriod : null,
      periodStart: entitlement.kind === 'metered' ? entitlement.period.start : null,
      periodEnd: entitlement.kind === 'metered' ? entitlement.period.end : null,
      source: sourceOf(feature.id, entitlement),
    }
  })
}

/** The states of features that more than the plan pays for, decided as a check decides them. */
async function spendingStates(
  { service, ...caller }: Call,
  catalogue: Catalogue,
  userId: string,
): Promise<Map<string, EntitlementState>> {
  const { usageStore, apps, pool } = service
  const questions = [...catalogue.features.values()]
    .filter(({ spends, pool }) => spends || pool)
    .map(({ id: featureId }) => ({ caller, userId, featureId }))
  if (questions.length === 0) return new Map()
  const client = await pool.connect()
  try {
    const states = await readEntitlements(usageStore, apps, client, questions)
    return new Map(
      states.flatMap((state) => {
        if ('error' in state) throw state.error
        return state.value.purse ? [[state.value.featureId, state.value]] : []
      }),
    )
  } finally {
    client.release()
  }
}

export interface LedgerPage extends KeyedPage<LedgerRow> {
  /** on the last page, how many older entries are no longer in the ledger */
  olderEntries: number
}

/** The recorded usage of a user, newest first: of one feature or of all. */
export async function ledger(
  call: Call,
  userId: string,
  featureId: string | null | undefined,
  first: number | null | undefined,
  after: string | null | undefined,
): Promise<LedgerPage> {
  const { appId } = call
  const { pool } = call.service
  const catalogue = await catalogueOf(call)
  const { uid } = await requireUser(pool, appId, userId)
  const features = featureId ? [requireFeature(catalogue, featureId).id] : [...catalogue.features.keys()]
  const size = pageSize(first)
  const rows = await ledgerOfUser(pool, appId, uid, features, keyBefore(after), size + 1)
  const page = pageOf(rows, size, (row) => row.seq)
  const olderEntries = page.next === null ? await countRetiredEntries(pool, appId, uid, features) : 0
  return { ...page, olderEntries }
}
