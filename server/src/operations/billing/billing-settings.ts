import { badUserInput } from '../../domain/errors.ts'
import { MAX_GRACE_DAYS } from '../../domain/limits.ts'
import type { AccessAfterRefund } from '../../domain/reversal.ts'
import * as store from '../../store/apps/apps.ts'
import {
  pastDueProviderSubscriptions,
  reversedProviderSubscriptions,
} from '../../store/billing/provider-subscriptions.ts'
import type { HomeDb } from '../../store/connection/places.ts'
import { requireApp } from '../apps/apps.ts'
import type { Call } from '../call/call.ts'
import { mutate } from '../call/mutate.ts'
import { ask } from './reconcile.ts'

export interface AppBillingSettings {
  graceDays: number
  accessAfterRefund: AccessAfterRefund
}

export async function billingSettings({
  service,
  appId,
}: Pick<Call, 'service' | 'appId'>): Promise<AppBillingSettings> {
  await requireApp(service.pool, appId)
  return read(service.pool, appId)
}

const read = async (db: HomeDb, appId: string): Promise<AppBillingSettings> => ({
  graceDays: await store.graceDays(db, appId),
  accessAfterRefund: await store.accessAfterRefund(db, appId),
})

/** Also applies to subscriptions that are already past due, which are fetched again. */
export async function setGraceDays(call: Call, days: number): Promise<AppBillingSettings> {
  const { appId } = call
  if (days < 0 || days > MAX_GRACE_DAYS)
    throw badUserInput(`days must be from 0 to ${MAX_GRACE_DAYS}`, 'days')
  return mutate(call, async (tx) => {
    await store.setGraceDays(tx, appId, days)
    await ask(tx, await pastDueProviderSubscriptions(tx, appId))
    return read(tx, appId)
  })
}

/** Also applies to earlier refunds and disputes, which are fetched again. */
export async function setAccessAfterRefund(
  call: Call,
  access: AccessAfterRefund,
): Promise<AppBillingSettings> {
  const { appId } = call
  return mutate(call, async (tx) => {
    await store.setAccessAfterRefund(tx, appId, access)
    await ask(tx, await reversedProviderSubscriptions(tx, appId))
    return read(tx, appId)
  })
}
