import { badUserInput } from '../../domain/errors.ts'
import { MAX_GRACE_DAYS } from '../../domain/limits.ts'
import { graceDays, setGraceDays as storeGraceDays } from '../../store/apps.ts'
import { foundApp } from '../apps/apps.ts'
import { changeApp, type MemberCall } from '../call/member-call.ts'

export async function billingSettings(
  { service }: Pick<MemberCall, 'service'>,
  appId: string,
): Promise<{ graceDays: number }> {
  await foundApp(service.pool, appId)
  return { graceDays: await graceDays(service.pool, appId) }
}

export async function setGraceDays(
  call: MemberCall,
  appId: string,
  days: number,
): Promise<{ graceDays: number }> {
  if (days < 0 || days > MAX_GRACE_DAYS)
    throw badUserInput(`days must be from 0 to ${MAX_GRACE_DAYS}`, 'days')
  return changeApp(call, appId, async (tx) => {
    await storeGraceDays(tx, appId, days)
    return { graceDays: days }
  })
}
