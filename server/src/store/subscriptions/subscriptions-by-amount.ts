import { timestamp } from '../connection/database.ts'
import { compareBytes, firstRows } from '../connection/merge-answers.ts'
import { type HomeDb, rowsOf } from '../connection/places.ts'
import { pastDueIn, type SubscriptionFilter, scanOf, wanted } from './subscription-list.ts'

/** Position of a subscription by amount. Amounts are compared within a currency. Without a price: '' and 0. */
export interface AmountKey {
  currency: string
  /** of all units, in minor units, as text: larger than a number may be */
  amount: string
  seq: number
}

type Found = AmountKey & { id: string }

/**
 * The price of `s` at its provider. Looked up for each subscription: a join would read the subscriptions of all apps at
 * their providers.
 */
const PRICE = `lateral (
  select c.currency, c.amount from provider_subscription p
  join price c on c.app_id = p.app_id and c.provider = p.provider and c.id = any(p.price_ids)
  where p.app_id = s.app_id and p.provider = s.provider and p.ref = s.provider_ref and c.package_id = s.package_id
  order by array_position(p.price_ids, c.id) limit 1) c`

/** Subscriptions by what their provider charges, among the newest `most`. */
export async function subscriptionsByAmount(
  db: HomeDb,
  appId: string,
  filter: SubscriptionFilter,
  { after, down, most }: { after: AmountKey | null; down: boolean; most: number },
  limit: number,
  now: number,
): Promise<Found[]> {
  const { scan, values } = scanOf(appId, filter, { after: null, oldestFirst: false, most })
  const take = (value: unknown) => `$${values.push(value)}`
  const at = `${take(timestamp(now))}::timestamptz`
  const matches = wanted(filter, at, take, pastDueIn(db))
  const key = [`coalesce(c.currency, '') collate "C"`, 'coalesce(c.amount::numeric * s.quantity, 0)', 's.seq']
  const from =
    after === null
      ? ''
      : `and (${key.join(', ')}) ${down ? '<' : '>'}
          (${take(after.currency)}::text, ${take(after.amount)}::numeric, ${take(after.seq)}::bigint)`
  const ask = rowsOf<Found>({
    text: `select s.id, ${key[0]} as currency, (${key[1]})::text as amount, s.seq from ${scan}
      left join ${PRICE} on true where ${matches} ${from}
      order by ${key.map((part) => (down ? `${part} desc` : part)).join(', ')} limit ${take(limit)}`,
    values,
  })
  const up = (a: Found, b: Found) =>
    compareBytes(a.currency, b.currency) || Number(BigInt(a.amount) - BigInt(b.amount)) || a.seq - b.seq
  return db.places.each(ask, firstRows(limit, down ? (a, b) => up(b, a) : up))
}
