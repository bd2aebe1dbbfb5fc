import { setTimeout as delay } from 'node:timers/promises'
import { unavailable } from '../../domain/errors.ts'
import type { ProviderRef } from '../../domain/provider-ref.ts'
import { isLeased, takeLease } from '../../store/billing/provider-leases.ts'
import type { Service } from '../call/service.ts'

/** Longer than a provider takes for two requests. */
const LEASE_MS = 60_000
/** Shorter than callers wait. */
const WAIT_MS = 8_000
const [SHORTEST_PAUSE_MS, LONGEST_PAUSE_MS] = [10, 160]

/** Takes a lease on a provider's subscription as soon as it is free. */
export async function takeWhenFree(service: Service, at: ProviderRef, holder: string): Promise<void> {
  const taken = await inTime(
    service,
    async () => (await takeLease(service.pool, at, holder, LEASE_MS)) !== false,
  )
  if (!taken) throw unavailable('Another change of this subscription is in progress; retry.')
}

/** Waits until no change of it is in progress. */
export async function untilFree(service: Service, at: ProviderRef): Promise<void> {
  const free = await inTime(service, async () => !(await isLeased(service.pool, at)))
  if (!free) throw new Error(`another change of the subscription ${at.ref} is in progress`)
}

/** Retries with growing pauses; false: it timed out. */
async function inTime({ monotonic }: Service, isSo: () => Promise<boolean>): Promise<boolean> {
  const began = monotonic()
  for (let pause = SHORTEST_PAUSE_MS; !(await isSo()); pause = Math.min(pause * 2, LONGEST_PAUSE_MS)) {
    if (monotonic() - began > WAIT_MS) return false
    await delay(pause)
  }
  return true
}
