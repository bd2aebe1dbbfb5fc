import type { Tx } from '../connection/database.ts'
import type { Attempt, DeliveryState } from './deliveries.ts'

/** A delivery that this process may attempt until its lease ends. */
export interface ClaimedDelivery {
  appId: string
  endpointId: string
  seq: number
  eventId: string
  eventType: string
  sequence: number | null
  createdAt: number
  attempts: number
  log: Attempt[]
  url: string
  /** sealed */
  secret: Buffer
  /** null: there is none, or it no longer signs */
  previousSecret: Buffer | null
  /** of the event; null for a test event and for a deleted event */
  eventAt: number | null
  userId: string | null
  data: unknown
}

interface Claim {
  lease: string
  leaseSeconds: number
  /** deliveries in all */
  limit: number
  /** deliveries of one endpoint */
  perEndpoint: number
  /** the same for endpoints of which some are in progress here */
  busy: readonly { appId: string; endpointId: string; free: number }[]
}

/**
 * Claims due deliveries: the oldest of each endpoint, and no more of it than it may have. Endpoints are found by jumping
 * from one to the next in the index of pending deliveries, and served in random order, so a long backlog of one does not
 * delay the others.
 */
export async function claimDeliveries(tx: Tx, claim: Claim): Promise<ClaimedDelivery[]> {
  const { rows } = await tx.query<ClaimedDelivery>(
    `with recursive waiting as (
       (select app_id, endpoint_id, due_at from webhook_delivery where state = 'PENDING'
        order by app_id, endpoint_id, due_at limit 1)
       union all
       select n.app_id, n.endpoint_id, n.due_at from waiting w cross join lateral (
         select app_id, endpoint_id, due_at from webhook_delivery
         where state = 'PENDING' and (app_id, endpoint_id) > (w.app_id, w.endpoint_id)
         order by app_id, endpoint_id, due_at limit 1) n),
     busy as materialized (
       select * from unnest($5::text[], $6::text[], $7::int[]) as b (app_id, endpoint_id, free)),
     open as materialized (
       select w.app_id, w.endpoint_id, e.url, e.secret,
         case when e.previous_secret_until > now() then e.previous_secret end as previous_secret,
         coalesce((select free from busy b where b.app_id = w.app_id and b.endpoint_id = w.endpoint_id), $4) as free
       from waiting w join webhook_endpoint e on e.app_id = w.app_id and e.id = w.endpoint_id and e.enabled
       where w.due_at <= now() order by random()),
     due as materialized (
       select o.*, d.seq from open o cross join lateral (
         select seq from webhook_delivery
         where app_id = o.app_id and endpoint_id = o.endpoint_id and state = 'PENDING' and due_at <= now()
         order by due_at limit o.free for update skip locked) d
       limit $3),
     claimed as (
       update webhook_delivery d set lease = $1, due_at = now() + make_interval(secs => $2) from due
       where (d.app_id, d.endpoint_id, d.seq) = (due.app_id, due.endpoint_id, due.seq)
       returning d.*, due.url, due.secret, due.previous_secret)
     select c.app_id as "appId", c.endpoint_id as "endpointId", c.seq, c.event_id as "eventId",
       c.event_type as "eventType", c.sequence, c.created_at as "createdAt", c.attempts, c.log, c.url, c.secret,
       c.previous_secret as "previousSecret", l.at as "eventAt", l.user_id as "userId", l.data
     from claimed c left join event_log l on l.app_id = c.app_id and l.sequence = c.sequence
     order by c.seq`,
    [
      claim.lease,
      claim.leaseSeconds,
      claim.limit,
      claim.perEndpoint,
      claim.busy.map(({ appId }) => appId),
      claim.busy.map(({ endpointId }) => endpointId),
      claim.busy.map(({ free }) => free),
    ],
  )
  return rows
}

/** The outcome of an attempt at a claimed delivery. */
export interface AttemptOutcome {
  appId: string
  endpointId: string
  seq: number
  lease: string
  state: DeliveryState
  /** seconds until the next attempt; null unless pending */
  nextIn: number | null
  log: readonly Attempt[]
}

/** Records outcomes. One whose lease has passed to another process is dropped, because that one makes the attempt again. */
export async function recordOutcomes(tx: Tx, outcomes: readonly AttemptOutcome[]): Promise<void> {
  await tx.query(
    `update webhook_delivery d set state = o.state, attempts = d.attempts + 1, lease = null, log = o.log::json,
       due_at = now() + o.next_in * interval '1 second'
     from unnest($1::text[], $2::text[], $3::bigint[], $4::uuid[], $5::text[], $6::float8[], $7::text[])
       as o (app_id, endpoint_id, seq, lease, state, next_in, log)
     where (d.app_id, d.endpoint_id, d.seq) = (o.app_id, o.endpoint_id, o.seq) and d.lease = o.lease`,
    [
      outcomes.map(({ appId }) => appId),
      outcomes.map(({ endpointId }) => endpointId),
      outcomes.map(({ seq }) => seq),
      outcomes.map(({ lease }) => lease),
      outcomes.map(({ state }) => state),
      outcomes.map(({ nextIn }) => nextIn),
      outcomes.map(({ log }) => JSON.stringify(log)),
    ],
  )
}

/** Gives claimed deliveries back that were not attempted. They are due at once. */
export async function releaseDeliveries(
  tx: Tx,
  claimed: readonly Pick<AttemptOutcome, 'appId' | 'endpointId' | 'seq' | 'lease'>[],
): Promise<void> {
  await tx.query(
    `update webhook_delivery d set lease = null, due_at = now()
     from unnest($1::text[], $2::text[], $3::bigint[], $4::uuid[]) as o (app_id, endpoint_id, seq, lease)
     where (d.app_id, d.endpoint_id, d.seq) = (o.app_id, o.endpoint_id, o.seq) and d.lease = o.lease`,
    [
      claimed.map(({ appId }) => appId),
      claimed.map(({ endpointId }) => endpointId),
      claimed.map(({ seq }) => seq),
      claimed.map(({ lease }) => lease),
    ],
  )
}

/** An endpoint of any app. */
export interface EndpointRef {
  appId: string
  endpointId: string
}

/** Endpoints that have just received something: earlier failures no longer count. */
export async function noteSuccesses(tx: Tx, endpoints: readonly EndpointRef[]): Promise<void> {
  await tx.query(
    `update webhook_endpoint w set failing_since = null
     from unnest($1::text[], $2::text[]) as e (app_id, id)
     where w.app_id = e.app_id and w.id = e.id and w.failing_since is not null`,
    [endpoints.map(({ appId }) => appId), endpoints.map(({ endpointId }) => endpointId)],
  )
}

/** Endpoints that have just failed. Returns those that have failed for longer than `ms`. */
export async function noteFailures(
  tx: Tx,
  endpoints: readonly EndpointRef[],
  ms: number,
): Promise<EndpointRef[]> {
  const names = [endpoints.map(({ appId }) => appId), endpoints.map(({ endpointId }) => endpointId)]
  await tx.query(
    `update webhook_endpoint w set failing_since = now()
     from unnest($1::text[], $2::text[]) as e (app_id, id)
     where w.app_id = e.app_id and w.id = e.id and w.failing_since is null`,
    names,
  )
  const { rows } = await tx.query<EndpointRef>(
    `select w.app_id as "appId", w.id as "endpointId"
     from unnest($1::text[], $2::text[]) as e (app_id, id)
     join webhook_endpoint w on w.app_id = e.app_id and w.id = e.id
     where w.enabled and w.failing_since <= now() - $3 * interval '1 millisecond' order by 1, 2`,
    [...names, ms],
  )
  return rows
}
