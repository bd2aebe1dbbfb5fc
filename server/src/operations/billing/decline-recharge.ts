import { afterDecline } from '../../domain/recharge.ts'
import { insertAuditEntry } from '../../store/audit/audit.ts'
import { snapshot } from '../../store/audit/snapshots.ts'
import { type CheckoutSession, failCheckoutSession } from '../../store/billing/checkout-sessions.ts'
import { insertDeclinedCharge } from '../../store/billing/payments.ts'
import { findAnyPrices } from '../../store/billing/prices.ts'
import { transaction } from '../../store/connection/database.ts'
import type { HomeDb } from '../../store/connection/places.ts'
import { endRechargeAttempt, rechargeRulesOf, setRechargeHealth } from '../../store/credits/recharges.ts'
import { findUserByUid } from '../../store/users/users.ts'
import { withLockedUid } from '../call/require.ts'
import type { Service } from '../call/service.ts'

/** Ends a charge that was declined, once. Its rule waits, or is turned off. No effect if it is no charge of a rule. */
export async function declineRecharge(
  service: Service,
  appId: string,
  session: CheckoutSession,
  decline: { hard: boolean; reason: string },
): Promise<void> {
  const { id: sessionId, userUid, provider } = session
  // Users who are deleted have no charges.
  if (userUid === null) return
  await transaction(service.pool, (tx) =>
    withLockedUid(tx, appId, userUid, async (users) => {
      const ended = await endRechargeAttempt(users, appId, sessionId, 'DECLINED')
      if (!ended) return
      await failCheckoutSession(users, appId, sessionId)
      const user = await findUserByUid(users, appId, userUid)
      const { now } = await service.apps.at(users, { appId, actor: { kind: 'service' } })
      await keepDeclined(users, appId, session, now)
      const [rule] = await rechargeRulesOf(users, { appId, ...ended }, now)
      // It was removed meanwhile.
      if (!user || !rule) return
      const health = afterDecline(rule, decline, now)
      const look = () => snapshot(tx, 'autoRecharges', appId, user.id)
      const before = await look()
      await setRechargeHealth(users, { appId, ...ended }, health)
      if (health.isOn || !rule.isOn) return
      await insertAuditEntry(users, {
        actorKind: 'PROVIDER',
        memberEmail: provider,
        appId,
        operation: 'syncAutoRecharge',
        subjectKind: 'autoRecharges',
        subjectId: user.id,
        before,
        after: await look(),
      })
    }),
  )
}

/** Lists the charge with the payments of the user, and so sends its event. */
async function keepDeclined(
  db: HomeDb,
  appId: string,
  { id, provider, items }: CheckoutSession,
  at: number,
): Promise<void> {
  const [item] = items
  const [price] = await findAnyPrices(db, appId, provider, item ? [item.priceId] : [])
  if (!price) throw new Error('a recharge has no price')
  const { currency } = price
  await insertDeclinedCharge(db, { appId, provider, ref: id }, { currency, at })
}
