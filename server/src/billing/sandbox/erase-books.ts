import type { HomeDb } from '../../store/connection/places.ts'

/** The customers (by the sandbox's ids) and the payment links to erase. */
interface Erased {
  customerIds: readonly string[]
  sessionIds: readonly string[]
}

/** The customers that these links were made for or paid by. */
export async function customersOf(
  db: HomeDb,
  appId: string,
  { customerIds, sessionIds }: Erased,
): Promise<string[]> {
  const { rows } = await db.query<{ id: string }>(
    `select id from sandbox_customer where app_id = $1 and id = any($2)
     union select customer_id from sandbox_checkout
       where app_id = $1 and session_id = any($3) and customer_id is not null`,
    [appId, customerIds, sessionIds],
  )
  return rows.map(({ id }) => id)
}

/**
 * Erases customers and their data from the sandbox's tables. Data at other providers is not touched. Returns the ids of
 * the erased links and subscriptions.
 */
export async function eraseFromBooks(
  db: HomeDb,
  appId: string,
  { customerIds, sessionIds }: Erased,
): Promise<{ refs: string[]; sessionIds: string[] }> {
  await db.query(
    `delete from sandbox_invoice i using sandbox_subscription s
     where s.app_id = $1 and s.customer_id = any($2) and i.app_id = s.app_id and i.subscription_id = s.id`,
    [appId, customerIds],
  )
  const subscriptions = await db.query<{ ref: string; sessionId: string }>(
    `delete from sandbox_subscription where app_id = $1 and customer_id = any($2)
     returning id as ref, session_id as "sessionId"`,
    [appId, customerIds],
  )
  const checkouts = await db.query<{ ref: string; sessionId: string }>(
    `delete from sandbox_checkout where app_id = $1 and (customer_id = any($2) or session_id = any($3))
     returning id as ref, session_id as "sessionId"`,
    [appId, customerIds, sessionIds],
  )
  const gone = [...subscriptions.rows, ...checkouts.rows]
  const refs = gone.map(({ ref }) => ref)
  // The payloads are ours and well-formed, so json operators are safe. A job that sends an erased event finds nothing.
  await db.query(
    `delete from sandbox_event where app_id = $1
       and (payload->'data'->'object'->>'id' = any($2) or payload->'data'->'object'->>'customer' = any($3)
         or payload->'data'->'object'->>'subscription' = any($2))`,
    [appId, refs, customerIds],
  )
  await db.query(`delete from sandbox_customer where app_id = $1 and id = any($2)`, [appId, customerIds])
  return { refs, sessionIds: gone.map(({ sessionId }) => sessionId) }
}
