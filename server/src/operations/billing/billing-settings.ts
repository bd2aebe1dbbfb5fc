import { badUserInput } from '../../domain/errors.ts'
import { MAX_GRACE_DAYS } from '../../domain/limits.ts'
import { graceDays, setGraceDays as storeGraceDays } from '../../store/apps.ts'
import { foundApp } from '../apps/apps.ts'
import type { Call } from '../call/call.ts'
import { mutate } from '../call/mutate.ts'

export async function billingSettings({
  service,
  appId,
}: Pick<Call, 'service' | 'appId'>): Promise<{ graceDays: number }> {
  await foundApp(service.pool, appId)
  return { graceDays: await graceDays(service.pool, appId) }
}

export async function setGraceDays(call: Call, days: number): Promise<{ graceDays: number }> {
  const { appId } = call
  if (days < 0 || days > MAX_GRACE_DAYS)
    throw badUserInput(`days must be from 0 to ${MAX_GRACE_DAYS}`, 'days')
  return mutate(call, async (tx) => {
    await storeGraceDays(tx, appId, days)
    return { graceDays: days }
  })
}
