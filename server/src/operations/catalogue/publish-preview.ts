import { type Catalogue, catalogueWith, countedPeriodsOf } from '../../domain/catalogue.ts'
import type { Entitlement, Package } from '../../domain/package.ts'
import { periodEnd } from '../../domain/package-version.ts'
import type { Reach } from '../../domain/publication.ts'
import { type TouchedFeature, touchedFeatures } from '../../domain/publish-impact.ts'
import type { Subscriber } from '../../store/subscriptions/subscribers.ts'
import { requireApp } from '../apps/apps.ts'
import type { Call } from '../call/call.ts'
import { type KeyedPage, pageSize } from '../call/pages.ts'
import { requirePackage } from '../call/require.ts'
import { catalogueOf } from './catalogue.ts'
import {
  type Impact,
  impactOf,
  lookingUp,
  parseTouchCursor,
  type Reaching,
  type Touch,
  TouchPage,
  touchedAfter,
} from './reach.ts'

export interface PublishPreview extends Impact {
  touched: KeyedPage<Touch>
}

/** The effect of publishing the draft on the package's subscribers. */
export async function publishPreview(
  call: Call,
  packageId: string,
  reach: Reach,
  first: number | null | undefined,
): Promise<PublishPreview> {
  const page = new TouchPage(pageSize(first))
  const draft = await publishing(call, packageId, reach)
  return lookingUp(call, async (tx) => {
    const impact = await impactOf(tx, draft, (one) => page.take(one))
    return { ...impact, touched: await page.result(tx, call.appId) }
  })
}

/** The next page of affected subscribers. */
export async function publishTouched(
  call: Call,
  packageId: string,
  reach: Reach,
  first: number | null | undefined,
  after: string,
): Promise<KeyedPage<Touch>> {
  const size = pageSize(first)
  const draft = await publishing(call, packageId, reach)
  const from = parseTouchCursor(after)
  return lookingUp(call, (tx) => touchedAfter(tx, draft, size, from))
}

async function publishing(call: Call, packageId: string, reach: Reach): Promise<Reaching> {
  const { appId } = call
  const { now } = await requireApp(call.service.pool, appId)
  const before = await catalogueOf(call)
  const found = requirePackage(before, packageId)
  const edit = found.draft ?? found
  const movesAt = ({ anchor, version, versionAsOf }: Subscriber): number | null => {
    if (reach === 'NEW_ONLY') return null
    if (reach === 'ALL') return now
    return periodEnd(anchor, countedPeriodsOf(before, { packageId, anchor, version, versionAsOf }, now), now)
  }
  return {
    appId,
    packageId,
    now,
    touched: touchedBy(before, found, edit.features),
    catalogues: { before, after: catalogueWith(before, packageId, edit, reach, now) },
    movesAt,
  }
}

/** Features that differ from the newest version, then those that differ only from an earlier one that some may have. */
function touchedBy(
  { histories }: Catalogue,
  { id, features }: Package,
  after: readonly Entitlement[],
): TouchedFeature[] {
  const touched = touchedFeatures(features, after)
  const seen = new Set(touched.map(({ featureId }) => featureId))
  const grantIn = (of: readonly Entitlement[], featureId: string) =>
    of.find((grant) => grant.featureId === featureId) ?? null
  for (const earlier of histories.get(id)?.versions.values() ?? []) {
    for (const { featureId } of touchedFeatures([...earlier.values()], after)) {
      if (seen.has(featureId)) continue
      seen.add(featureId)
      touched.push({ featureId, before: grantIn(features, featureId), after: grantIn(after, featureId) })
    }
  }
  return touched
}
