import { randomUUID } from 'node:crypto'
import { type Catalogue, countedPeriodsOf } from '../../domain/catalogue.ts'
import { checkSubscribe } from '../../domain/subscribe-rules.ts'
import {
  anchorFor,
  type EarlierBase,
  endedAt,
  lastLiveAt,
  type Subscription,
  termsOf,
} from '../../domain/subscription.ts'
import {
  insertSubscriptions,
  type SubscriptionRow,
  settleByClock,
  subscriptionsOfUser,
} from '../../store/subscriptions.ts'
import type { Call } from '../call/call.ts'
import { lockedUser } from '../call/found.ts'
import { mutate } from '../call/mutate.ts'
import { type PackageSubscription, packageSubscription } from './subscriptions.ts'

export async function subscribe(
  call: Call,
  userId: string,
  packageIds: readonly string[],
): Promise<PackageSubscription[]> {
  return mutate(call, async (tx, moment) => {
    const user = await lockedUser(tx, call.appId, userId)
    // Read after locking the user: nothing this decision depends on changes any more.
    const { app, now } = await moment()
    const held = await subscriptionsOfUser(tx, call.appId, user.uid, now)
    const live = held.filter((s) => endedAt(s, now) === null)

    const packages = checkSubscribe(
      packageIds.map((id) => app.catalogue.packages.get(id)),
      live,
    )

    const base = live.find((s) => !s.isAddon)
    const anchor = base?.anchor ?? anchorFor(earlierBases(held, app.catalogue, now), now)
    const made = packages.map(
      (p): Subscription => ({
        id: `sub_${randomUUID()}`,
        packageId: p.id,
        isAddon: p.isAddon,
        startedAt: now,
        anchor,
        // An add-on ends with its base plan, even if that end is already set.
        cancelAt: base?.cancelAt ?? null,
        cancelledAt: null,
        metadata: {},
        ...termsOf(p),
      }),
    )
    const lapsed = held.some((s) => s.cancelledAt === null && !live.includes(s))
    if (lapsed) await settleByClock(tx, call.appId, user.uid, now)
    await insertSubscriptions(tx, call.appId, user.uid, made)
    return made.map((s) => packageSubscription({ ...s, userId }, app.catalogue, now))
  })
}

function earlierBases(held: readonly SubscriptionRow[], catalogue: Catalogue, now: number): EarlierBase[] {
  return held.flatMap((s) => {
    const last = lastLiveAt(s, now)
    if (s.isAddon || last === null) return []
    const resetPeriods = countedPeriodsOf(catalogue, s, last)
    return [{ anchor: s.anchor, lastLiveAt: last, resetPeriods }]
  })
}
