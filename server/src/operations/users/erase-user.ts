import { isSandboxCustomer } from '../../billing/customer-refs.ts'
import { refsIn } from '../../billing/notice.ts'
import { customersOf, eraseFromBooks } from '../../billing/sandbox/erase-books.ts'
import { userNotFound } from '../../domain/errors.ts'
import type { Json, JsonObject } from '../../domain/metadata.ts'
import { answerIsAbout, entryIsAbout, type Person, quotesOf } from '../../domain/personal-data.ts'
import { subjectOwner } from '../../store/audit/snapshots.ts'
import {
  type CheckoutSession,
  deleteCheckoutsOfUser,
  deletePaidCheckouts,
} from '../../store/billing/checkout-sessions.ts'
import { providerSubscriptionsOfUser } from '../../store/billing/provider-subscriptions.ts'
import type { Tx } from '../../store/connection/database.ts'
import type { UserTx } from '../../store/connection/places.ts'
import * as store from '../../store/privacy/erase-user.ts'
import { insertErasedRefs } from '../../store/privacy/erased-refs.ts'
import {
  auditEntriesNaming,
  noticesNaming,
  type ReceiptRow,
  receiptsNaming,
} from '../../store/privacy/user-traces.ts'
import { PROVIDERS } from '../billing/provider-of.ts'
import { personOf } from './person.ts'

const ALL = Number.MAX_SAFE_INTEGER

/** Erases a locked user from every table. `ownKey` is the Idempotency-Key of this deletion. */
export async function eraseUser(
  tx: UserTx,
  appId: string,
  user: store.ErasableUser,
  ownKey: string | null,
): Promise<void> {
  const person = await personOf(tx, appId, user)
  const ids = person.knownAs.map(({ id }) => id)
  const taken = await store.takenSince(tx, appId, user.uid, ids)
  const free = ids.filter((id) => !taken.has(id))

  await eraseReceipts(tx, appId, user, person, ownKey)
  await eraseAuditEntries(tx, appId, person)
  await eraseBilling(tx, appId, user.uid, person)
  await store.clearImportRows(tx, appId, person, free)
  await store.deleteRecentUsage(tx, appId, free)
  await store.deleteUserRows(tx, appId, user.uid)
}

/**
 * A stored response becomes an error: the call was made once, and is not made again. If the key itself contains the
 * user's id, all of it is deleted, and a repeated call finds no such user.
 */
async function eraseReceipts(
  tx: Tx,
  appId: string,
  user: store.ErasableUser,
  person: Person,
  ownKey: string | null,
): Promise<void> {
  const ids = person.knownAs.map(({ id }) => id)
  const found = await receiptsNaming(tx, appId, person.uid, ids, quotesOf(person))
  const about = found.filter(
    ({ userUid, results, createdAt }) => userUid === person.uid || answerIsAbout(person, results, createdAt),
  )
  const names = [...ids, ...person.billingIds, user.email ?? '', user.name ?? ''].filter(
    (text) => text !== '',
  )
  const isNamed = ({ key }: Pick<ReceiptRow, 'key'>) => names.some((text) => key.includes(text))
  const own = ownKey === null ? [] : [{ scope: 'request', key: ownKey }]
  await store.deleteReceipts(tx, appId, [...about, ...own].filter(isNamed))
  for (const receipt of about.filter((one) => !isNamed(one) && one.userUid === null)) {
    await store.replaceReceipt(tx, appId, receipt, refused(receipt.results))
  }
}

/** Replaces every result by a not-found error. */
function refused(results: Json): Json {
  const { code, type, field } = userNotFound('')
  const error = { code, type, field, message: 'The user was deleted' }
  return Object.fromEntries(Object.keys(results as JsonObject).map((name) => [name, { error }]))
}

async function eraseAuditEntries(tx: Tx, appId: string, person: Person): Promise<void> {
  const named = [...person.knownAs.map(({ id }) => id), ...person.subscriptionIds]
  const found = await auditEntriesNaming(tx, appId, named, 0, ALL)
  const about = found.filter((entry) => entryIsAbout(person, entry, subjectOwner(entry.subjectKind)))
  await store.clearAuditEntries(
    tx,
    appId,
    about.map(({ seq }) => seq),
  )
}

interface Ref {
  provider: string
  ref: string
}

/** Erases everything that identifies the user at a provider or in its events, and the data derived from it. */
async function eraseBilling(tx: Tx, appId: string, uid: number, person: Person): Promise<void> {
  const sessions = await deleteCheckoutsOfUser(tx, appId, uid)
  const sessionIds = sessions.map(({ id }) => id)
  const customerIds = await customersOf(tx, appId, { customerIds: person.billingIds, sessionIds })
  const books = await eraseFromBooks(tx, appId, { customerIds, sessionIds })
  const refs: Ref[] = [
    ...(await providerSubscriptionsOfUser(tx, appId, uid)),
    ...person.billingIds.flatMap(providersOf),
    ...sessions.flatMap(refsOf),
    ...[...customerIds, ...books.refs, ...books.sessionIds].map((ref) => ({ provider: 'sandbox', ref })),
  ]
  const isTheirs = (provider: string, ref: string) =>
    refs.some((r) => r.provider === provider && r.ref === ref)
  const found = await noticesNaming(tx, appId, [...new Set(refs.map(({ ref }) => ref))], 0, ALL)
  const about = found.filter(({ provider, payload }) =>
    refsIn(payload).some((ref) => isTheirs(provider, ref)),
  )
  // The link of a payer who became a user by paying is known only from the events.
  for (const { provider, payload } of about) for (const ref of refsIn(payload)) refs.push({ provider, ref })
  await store.deleteNotices(
    tx,
    appId,
    about.map(({ seq }) => seq),
  )
  await deletePaidCheckouts(tx, appId, refs)
  await store.deleteJobsAbout(
    tx,
    refs.map((ref) => ({ appId, ...ref })),
  )
  await insertErasedRefs(tx, appId, refs)
}

/** A billing id does not contain its provider, unless it is the sandbox's. */
const providersOf = (ref: string): Ref[] =>
  PROVIDERS.filter((provider) => provider === 'sandbox' || !isSandboxCustomer(ref)).map((provider) => ({
    provider,
    ref,
  }))

const refsOf = ({ provider, id, providerRef }: CheckoutSession): Ref[] =>
  [id, providerRef].filter((ref) => ref !== null).map((ref) => ({ provider, ref }))
