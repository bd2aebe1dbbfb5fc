import { MAX_LOOKED_AT } from '../../domain/limits.ts'
import { overrideAt } from '../../domain/override.ts'
import { usersWithOverride } from '../../store/users/overrides.ts'
import { requireApp } from '../apps/apps.ts'
import type { Call } from '../call/call.ts'
import { type KeyedPage, keyBefore, pageOf, pageSize } from '../call/pages.ts'
import type { Page } from '../call/paging.ts'
import { dashboardFeature } from '../catalogue/catalogue.ts'
import type { UserOverride } from './overrides.ts'

export type FeatureOverride = UserOverride & { userName: string | null }

/** Overrides of a feature in force, newest users first. A page may be short and still have a next one. */
export async function featureOverrides(
  call: Call,
  featureId: string,
  { first, after }: Page,
): Promise<KeyedPage<FeatureOverride>> {
  const { pool } = call.service
  const { now } = await requireApp(pool, call.appId)
  await dashboardFeature(call, featureId)
  const size = pageSize(first)
  const { rows, scannedTo } = await usersWithOverride(
    pool,
    call.appId,
    featureId,
    keyBefore(after),
    size + 1,
    MAX_LOOKED_AT,
  )
  const page = pageOf(rows, size, ({ uid }) => uid)
  return {
    rows: page.rows.flatMap(({ id, name, email, overrides }) => {
      const override = overrideAt(overrides, featureId, now)
      return override ? [{ ...override, userId: id, userName: name ?? email }] : []
    }),
    next: page.next ?? (scannedTo === null ? null : String(scannedTo)),
  }
}
