import { randomUUID } from 'node:crypto'
import { subscriptionError } from '../../domain/errors.ts'
import { checkQuantity } from '../../domain/plan-change.ts'
import { checkSubscribe } from '../../domain/subscribe-rules.ts'
import { anchorFor, endedAt, endOfPlan, type Subscription, termsOf } from '../../domain/subscription.ts'
import { insertSubscriptions, subscriptionsOfUser } from '../../store/subscriptions/subscriptions.ts'
import { deleteSuccessors, settleByClock } from '../../store/subscriptions/successors.ts'
import type { Call } from '../call/call.ts'
import { mutateUser } from '../call/mutate.ts'
import { earlierBases } from './earlier-bases.ts'
import { type PackageSubscription, packageSubscription } from './subscriptions.ts'

export async function subscribe(
  call: Call,
  userId: string,
  packageIds: readonly string[],
  quantities: readonly number[] | null = null,
): Promise<PackageSubscription[]> {
  if (quantities !== null && quantities.length !== packageIds.length) {
    throw subscriptionError('quantities must have one entry per package')
  }
  for (const quantity of quantities ?? []) checkQuantity(quantity)
  return mutateUser(call, userId, async (tx, user, moment) => {
    // Read after locking the user, so that the input of this decision no longer changes.
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
      (p, i): Subscription => ({
        id: `sub_${randomUUID()}`,
        packageId: p.id,
        isAddon: p.isAddon,
        startedAt: now,
        anchor,
        // An add-on ends with its base plan, also if that end is already scheduled, unless another plan follows.
        cancelAt: base ? endOfPlan(base) : null,
        cancelledAt: null,
        metadata: {},
        ...termsOf(p),
        quantity: quantities?.[i] ?? 1,
      }),
    )
    const lapsed = held.some((s) => s.cancelledAt === null && !live.includes(s))
    if (lapsed) await settleByClock(tx, call.appId, user.uid, now)
    // A package planned to follow a trial starts now.
    const planned = live.filter((s) => packages.some((p) => p.id === s.next?.packageId)).map((s) => s.id)
    if (planned.length > 0) await deleteSuccessors(tx, call.appId, planned, now)
    await insertSubscriptions(tx, call.appId, user.uid, made)
    return made.map((s) => packageSubscription({ ...s, userId }, app.catalogue, now))
  })
}
