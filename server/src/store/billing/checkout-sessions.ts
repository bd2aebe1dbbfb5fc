import type { SoldCredits } from '../../domain/credit-sale.ts'
import type { Interval } from '../../domain/price.ts'
import type { ProviderRef } from '../../domain/provider-ref.ts'
import type { SaleTerms } from '../../domain/sale-terms.ts'
import { timestampOrNull } from '../connection/database.ts'
import type { HomeDb } from '../connection/places.ts'

type CheckoutState = 'OPEN' | 'AWAITING' | 'PAID' | 'FAILED' | 'EXPIRED'

export interface CheckoutSession {
  id: string
  /** null: it sells credits */
  templateId: string | null
  userUid: number | null
  provider: string
  items: SessionItem[]
  /** what its payer chooses between; `items` is empty until then. Null: nothing */
  choices: SessionChoice[] | null
  /** what the whole link sells; null: packages */
  credits: SoldCredits | null
  terms: SaleTerms
  successUrl: string
  cancelUrl: string
  providerRef: string | null
  url: string | null
  state: CheckoutState
  /** a link of a provider would have expired */
  isOld: boolean
  /** in real time; null: not paid, or paid before this was recorded */
  paidAt: number | null
}

/** `quantity` is missing for packages, which are sold once. */
type SessionItem = { priceId: string } & (
  | { packageId: string; quantity?: never }
  | { packageId: null; quantity: number }
)

interface SessionChoice {
  interval: Interval
  items: SessionItem[]
}

const COLUMNS = `choices, created_at <= now() - interval '24 hours' as "isOld", id, template_id as "templateId", user_uid as "userUid", provider, items, credits, terms, success_url as "successUrl",
  cancel_url as "cancelUrl", provider_ref as "providerRef", url, state, paid_at as "paidAt"`

export async function insertCheckoutSession(
  db: HomeDb,
  appId: string,
  s: Omit<CheckoutSession, 'choices' | 'isOld' | 'providerRef' | 'url' | 'state' | 'paidAt'> &
    Partial<Pick<CheckoutSession, 'choices'>>,
): Promise<void> {
  await db.query(
    `insert into checkout_session (app_id, id, template_id, user_uid, provider, items, terms, success_url,
       cancel_url, credits, choices)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)`,
    [
      appId,
      s.id,
      s.templateId,
      s.userUid,
      s.provider,
      JSON.stringify(s.items),
      JSON.stringify(s.terms),
      s.successUrl,
      s.cancelUrl,
      s.credits && JSON.stringify(s.credits),
      s.choices ? JSON.stringify(s.choices) : null,
    ],
  )
}

export async function findCheckoutSession(
  db: HomeDb,
  appId: string,
  id: string,
): Promise<CheckoutSession | null> {
  const { rows } = await db.query<CheckoutSession>(
    `select ${COLUMNS} from checkout_session where app_id = $1 and id = $2`,
    [appId, id],
  )
  return rows[0] ?? null
}

/** By the provider's id. */
export async function findCheckoutByRef(
  db: HomeDb,
  { appId, provider, ref }: ProviderRef,
): Promise<CheckoutSession | null> {
  const { rows } = await db.query<CheckoutSession>(
    `select ${COLUMNS} from checkout_session where app_id = $1 and provider = $2 and provider_ref = $3`,
    [appId, provider, ref],
  )
  return rows[0] ?? null
}

/** Whether there is such a session; locks it until the transaction ends. */
export async function holdCheckoutSession(db: HomeDb, appId: string, id: string): Promise<boolean> {
  const { rowCount } = await db.query(
    `select from checkout_session where app_id = $1 and id = $2 for key share`,
    [appId, id],
  )
  return rowCount === 1
}

/**
 * Stores what the payer has chosen, once. False: it was chosen already, or the link is too old; its provider's would have
 * expired too.
 */
export async function chooseItems(
  db: HomeDb,
  appId: string,
  id: string,
  items: readonly SessionItem[],
): Promise<boolean> {
  const { rowCount } = await db.query(
    `update checkout_session set items = $3 where app_id = $1 and id = $2 and state = 'OPEN' and choices is not null
       and json_array_length(items) = 0 and created_at > now() - interval '24 hours'`,
    [appId, id, JSON.stringify(items)],
  )
  return rowCount === 1
}

/** A user's payment links. */
export async function checkoutsOfUser(
  db: HomeDb,
  appId: string,
  userUid: number,
): Promise<CheckoutSession[]> {
  const { rows } = await db.query<CheckoutSession>(
    `select ${COLUMNS} from checkout_session where app_id = $1 and user_uid = $2 order by created_at, id`,
    [appId, userUid],
  )
  return rows
}

/** The same, deleting them, so that the sandbox creates nothing more for them. */
export async function deleteCheckoutsOfUser(
  db: HomeDb,
  appId: string,
  userUid: number,
): Promise<CheckoutSession[]> {
  const { rows } = await db.query<CheckoutSession>(
    `delete from checkout_session where app_id = $1 and user_uid = $2 returning ${COLUMNS}`,
    [appId, userUid],
  )
  return rows
}

/** Deletes payment links that were not made for a user, by the provider's ids. */
export async function deletePaidCheckouts(
  db: HomeDb,
  appId: string,
  refs: readonly { provider: string; ref: string }[],
): Promise<void> {
  await db.query(
    `delete from checkout_session s using unnest($2::text[], $3::text[]) as r (provider, ref)
     where s.app_id = $1 and s.provider = r.provider and s.provider_ref = r.ref`,
    [appId, refs.map(({ provider }) => provider), refs.map(({ ref }) => ref)],
  )
}

/** Stores the provider's id and URL of it. */
export async function setCheckoutUrl(
  db: HomeDb,
  appId: string,
  id: string,
  { ref, url }: { ref: string; url: string },
): Promise<void> {
  await db.query(
    `update checkout_session set provider_ref = $3, url = $4 where app_id = $1 and id = $2 and url is null`,
    [appId, id, ref, url],
  )
}

/** Order of the states. A session never goes back: an outdated response changes nothing. */
const RANK = `array_position(array['OPEN', 'AWAITING', 'EXPIRED', 'FAILED', 'PAID'],`

/**
 * Stores the provider's response and returns the resulting session; null: there is no such session. If the provider
 * does not report the payment time, the current time is used.
 */
export async function updateCheckoutState(
  db: HomeDb,
  appId: string,
  provider: string,
  id: string,
  ref: string,
  state: CheckoutState,
  paidAt: number | null,
): Promise<CheckoutSession | null> {
  const { rows } = await db.query<CheckoutSession>(
    `update checkout_session set provider_ref = coalesce(provider_ref, $4),
       state = case when ${RANK} $5::text) > ${RANK} state) then $5 else state end,
       paid_at = case when $5 = 'PAID' then coalesce(paid_at, $6, now()) else paid_at end
     where app_id = $1 and provider = $2 and id = $3 returning ${COLUMNS}`,
    [appId, provider, id, ref, state, timestampOrNull(paidAt)],
  )
  return rows[0] ?? null
}

/** The charge of a saved card was declined. */
export async function failCheckoutSession(db: HomeDb, appId: string, id: string): Promise<void> {
  await db.query(
    `update checkout_session set state = 'FAILED' where app_id = $1 and id = $2 and state in ('OPEN', 'AWAITING')`,
    [appId, id],
  )
}

/**
 * Closes sessions that have no response from their provider: nobody received the link, and a checkout that was created
 * anyway has expired by now. Returns their number.
 */
export async function closeUnanswered(db: HomeDb, appId: string | null): Promise<number> {
  const { rowCount } = await db.query(
    `update checkout_session s set state = 'EXPIRED'
     where state = 'OPEN' and provider_ref is null and created_at < now() - interval '25 hours'
       and not exists (select from recharge_attempt a where a.app_id = s.app_id and a.session_id = s.id)
       and ($1::text is null or app_id = $1)`,
    [appId],
  )
  return rowCount ?? 0
}

/**
 * Sessions that may still change at the provider: all of them, or the likely ones, which are new or should have
 * expired. The others are not fetched every few minutes.
 */
export async function openCheckouts(
  db: HomeDb,
  appId: string | null,
  which: 'due' | 'all',
): Promise<ProviderRef[]> {
  const { rows } = await db.query<ProviderRef>(
    `select app_id as "appId", provider, provider_ref as ref from checkout_session
     where state in ('OPEN', 'AWAITING') and provider_ref is not null and ($1::text is null or app_id = $1)
       and ($2 or (state = 'OPEN' and created_at not between now() - interval '25 hours' and now() - interval '1 hour'))`,
    [appId, which === 'all'],
  )
  return rows
}
