import { randomUUID } from 'node:crypto'
import type { Customer, ProviderSubscription } from '../../billing/provider.ts'
import { type BillingChanges, billingChanges } from '../../domain/billing-changes.ts'
import { quote } from '../../domain/errors.ts'
import { graceDays } from '../../store/apps.ts'
import { type Tx, transaction } from '../../store/database.ts'
import { addJob, addJobs } from '../../store/jobs.ts'
import { findPrices } from '../../store/prices.ts'
import {
  type ProviderSubscriptionRow,
  writeProviderSubscription,
} from '../../store/provider-subscriptions.ts'
import {
  cancelNow,
  followProvider,
  insertSubscriptions,
  providerTimes,
  settleLapsed,
  subscriptionsOfUser,
} from '../../store/subscriptions.ts'
import {
  findUser,
  findUserByBillingId,
  insertPayer,
  keepBillingId,
  lockUserByUid,
} from '../../store/users.ts'
import type { Service } from '../call.ts'
import { foundPackage } from '../found.ts'
import type { At } from './sync-checkout.ts'

/** Why what was paid cannot be given: a person has to put something right, and have the notice handled again. */
export class BillingProblem extends Error {}

const DAY_MS = 86_400_000

/**
 * Makes what a provider says of a subscription so, all of it or nothing. `known` is what was written when the provider
 * was asked: false when somebody has written since.
 */
export async function applyBilling(
  service: Service,
  at: At,
  said: ProviderSubscription,
  known: ProviderSubscriptionRow | null,
  payer: number | null,
): Promise<boolean> {
  const { appId, provider, ref } = at
  if (!known && said.standing === 'never') return true
  return transaction(service.pool, async (tx) => {
    const uid = payer ?? (await becomeUser(tx, appId, said.customer))
    await lockUserByUid(tx, appId, uid)
    // The moment after the wait for the user: nothing that this decides upon changes any more.
    const { app, now } = await service.apps.at(tx, { appId, keyHash: null })
    const packageIds = await packagesPaid(tx, at, said)
    const pastDueSince =
      said.standing === 'past due' ? (said.pastDueSince ?? known?.pastDueSince ?? now) : null
    const written = await writeProviderSubscription(tx, appId, provider, ref, {
      userUid: uid,
      customerRef: said.customer?.ref ?? known?.customerRef ?? null,
      status: said.status,
      madeAt: said.madeAt,
      paidUntil: said.paidUntil,
      pastDueSince,
      live: !said.settled,
      version: known?.version ?? 0,
    })
    if (!written) return false
    if (said.customer) await keepBillingId(tx, appId, uid, said.customer.ref)

    const grace = pastDueSince === null ? null : pastDueSince + (await graceDays(tx, appId)) * DAY_MS
    const times = await providerTimes(tx, appId, uid)
    const held = (await subscriptionsOfUser(tx, appId, uid)).map((s) => ({
      ...s,
      madeAt: times.get(`${s.provider}/${s.providerRef}`) ?? null,
    }))
    const packages = packageIds.map((id) => foundPackage(app.catalogue, id))
    const changes = billingChanges({ ...said, provider, ref, packages }, held, grace, now)
    if (changes.lacksBasePlan && changes.end.length === 0) {
      throw new BillingProblem(
        'The user has no live base plan to which these add-ons could be added: subscribe the user to one, or refund the payment',
      )
    }
    await settleLapsed(tx, appId, uid, now)
    await write(tx, at, uid, changes)
    return true
  })
}

/** Whoever paid without being a user becomes one. Nobody is recognised by an email address: anyone may enter any. */
async function becomeUser(tx: Tx, appId: string, customer: Customer | null): Promise<number> {
  if (!customer) throw new BillingProblem('The provider does not say who paid')
  const { ref, email, name } = customer
  const known = await findUserByBillingId(tx, appId, ref)
  if (known) return known.uid
  await insertPayer(tx, appId, { id: ref, billingId: ref, email, name, metadata: {} })
  const made = (await findUserByBillingId(tx, appId, ref)) ?? (await findUser(tx, appId, ref))
  if (!made) throw new Error(`the payer ${ref} vanished`)
  return made.uid
}

async function packagesPaid(tx: Tx, at: At, said: ProviderSubscription): Promise<string[]> {
  const prices = await findPrices(tx, at.appId, at.provider, said.priceIds)
  const unknown = said.priceIds.find((id) => !prices.some((price) => price.id === id))
  if (unknown !== undefined && (said.standing === 'live' || said.standing === 'past due')) {
    throw new BillingProblem(
      `${quote(unknown)} is the price of no package: import it in the dashboard, and replay this notice`,
    )
  }
  return [...new Set(prices.map((price) => price.packageId))]
}

/** What ends goes first: the unique indexes let nothing begin beside it. */
async function write(tx: Tx, at: At, uid: number, changes: BillingChanges): Promise<void> {
  const { appId } = at
  for (const { id, at: time } of changes.end) await cancelNow(tx, appId, [id], time)
  for (const change of changes.update) await followProvider(tx, appId, change)
  if (changes.insert.length > 0) {
    const made = changes.insert.map((s) => ({ ...s, id: `sub_${randomUUID()}`, metadata: {} }))
    await insertSubscriptions(tx, appId, uid, made, at)
  }
  for (const { provider, ref } of changes.cancelAtProvider) {
    await addJob(tx, 'cancel-at-provider', { appId, provider, ref }, `cancel:${appId}:${provider}:${ref}`)
  }
  await addJobs(
    tx,
    'sync-subscription',
    changes.askAgain.map((behind) => ({ appId, ...behind })),
  )
}
