import { windowStart } from '../../domain/cap.ts'
import { transaction } from '../../store/connection/database.ts'
import {
  type RechargeKey,
  type RechargeUser,
  rechargeRulesOf,
  rechargesDue,
  rechargesDueFor,
  staleCharges,
} from '../../store/credits/recharges.ts'
import { addJob } from '../../store/jobs/jobs.ts'
import type { Service } from '../call/service.ts'
import { withSpender } from '../credits/mutate-spender.ts'
import { startRecharge } from './start-recharge.ts'

/** How long a crossing may wait for its charge to start. */
export const RECHARGE_CHECK_MS = 250
/** Users of this process that a check looks at. The others are found by the next round over all rules. */
const MOST_WATCHED = 10_000
/** Rules that are read at once. */
const PAGE = 500
/** Longer than a job waits for a provider between its first attempts. */
const STALE_MINUTES = 15

/**
 * Starts the charges of all rules that have something to buy: those whose crossing nobody noticed, because credits expired,
 * a wait is over, or a process died. Also asks again about charges whose answer is missing.
 */
export async function startRecharges(service: Service): Promise<void> {
  const { pool } = service
  for (let after: RechargeKey | null = null, more = true; more; ) {
    const { due, last } = await rechargesDue(pool, after, PAGE)
    for (const key of due) await start(service, key)
    after = last
    more = last !== null && !service.ongoing.stopping
  }
  for (const stale of await staleCharges(pool, STALE_MINUTES, PAGE))
    await addJob(pool, 'charge-recharge', stale, `recharge:${stale.appId}:${stale.sessionId}`)
}

async function start(service: Service, key: RechargeKey): Promise<void> {
  const { appId, userUid: uid, featureId } = key
  try {
    await transaction(service.pool, (tx) =>
      withSpender(service, tx, { appId, uid, featureId }, async (spender) => {
        const [rule] = await rechargeRulesOf(spender.tx, key, windowStart('MONTH', spender.now))
        if (rule) await startRecharge(spender, rule)
      }),
    )
  } catch (error) {
    // One rule must not keep the others from charging. The next round tries it again.
    service.log.error({ err: error, appId, featureId }, 'an automatic recharge could not be started')
  }
}

/** Users whose credits this process has burnt, until their rules are checked. */
export class RechargeWatch {
  readonly #users = new Map<string, RechargeUser>()
  #isChecking = false

  noticed(appId: string, userUid: number): void {
    if (this.#users.size < MOST_WATCHED) this.#users.set(`${userUid} ${appId}`, { appId, userUid })
  }

  /** Users noticed during a check are those of the next one. */
  async check(service: Service): Promise<void> {
    if (this.#users.size === 0 || this.#isChecking) return
    this.#isChecking = true
    const users = [...this.#users.values()]
    this.#users.clear()
    try {
      for (const key of await rechargesDueFor(service.pool, users)) await start(service, key)
    } finally {
      this.#isChecking = false
    }
  }
}
