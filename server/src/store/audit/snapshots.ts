import { isIdentifier } from '../../domain/identifier.ts'
import type { JsonObject } from '../../domain/metadata.ts'
import { anyRows } from '../connection/merge-answers.ts'
import { type HomeDb, rowsOf } from '../connection/places.ts'

/** The audited properties of a subject, by app and id, as seen in this transaction. */
const SNAPSHOTS = {
  app: `select id, name, test_clock as "testClock", origins, grace_days as "graceDays",
      access_after_refund as "accessAfterRefund", usage_events as "usageRecorded", event_days as "eventDays",
      archived_at as "archivedAt", deleting_since as "deletingSince"
    from app where id = $2 and $1 = $1`,
  apiKey: `select id, name, prefix, scope, created_at as "createdAt", revoked_at as "revokedAt", expires_at as "expiresAt"
    from api_key where app_id = $1 and id = $2`,
  tokenKey: `select id, algorithm, created_at as "createdAt", retired_at as "retiredAt", revoked_at as "revokedAt"
    from token_key where app_id = $1 and id = $2`,
  feature: `select id, name, type, unit_label as "unitLabel", unit_label_plural as "unitLabelPlural", metadata,
      thresholds, costs, archived_at as "archivedAt" from feature where app_id = $1 and id = $2`,
  package: `select id, name, status, is_addon as "isAddon", metadata, draft, version, archived_at as "archivedAt",
      publish_at as "publishAt", publication->>'reach' as "publishFor", publication->>'note' as "publishNote",
      (select reach from package_history h where h.app_id = p.app_id and h.package_id = p.id and h.to_version = p.version
         and h.kind = 'PUBLISHED') as "publishedFor",
      (select coalesce(json_agg(jsonb_build_object('featureId', feature_id, 'limit', "limit",
         'resetPeriod', reset_period, 'overageEnabled', overage_enabled)
         || jsonb_strip_nulls(jsonb_build_object('overageCap', overage_cap, 'caps', caps)) order by position), '[]')
       from package_feature f where f.app_id = p.app_id and f.package_id = p.id) as features
    from package p where app_id = $1 and id = $2`,
  migration: `select id, package_id as "packageId", from_version as "fromVersion", to_version as "toVersion",
      reach, at, undone_at as "undoneAt" from package_history where app_id = $1 and id = $2`,
  user: `select id, name, email, billing_id as "billingId", metadata from users where app_id = $1 and id = $2`,
  subscription: `select s.id, u.id as "userId", s.package_id as "packageId", s.started_at as "startedAt",
      s.cancel_at as "cancelAt", s.cancelled_at as "cancelledAt", s.trial_ends_at as "trialEndsAt", s.quantity
    from subscription s join users u on u.app_id = s.app_id and u.uid = s.user_uid
    where s.app_id = $1 and s.id = $2`,
  subscriptions: `select u.id as "userId", coalesce(json_agg(json_build_object('id', s.id, 'packageId', s.package_id,
      'startedAt', s.started_at, 'cancelAt', s.cancel_at, 'cancelledAt', s.cancelled_at,
      'trialEndsAt', s.trial_ends_at, 'quantity', s.quantity, 'follows', s.follows) order by s.seq)
      filter (where s.id is not null), '[]') as subscriptions
    from users u left join subscription s on s.app_id = u.app_id and s.user_uid = u.uid
    where u.app_id = $1 and u.id = $2 group by u.id`,
  overrides: `select u.id as "userId", coalesce(json_agg(json_build_object('featureId', o.value->'featureId',
      'mode', o.value->'mode', 'limit', o.value->'limit', 'overageEnabled', o.value->'overageEnabled',
      'resetPeriod', o.value->'resetPeriod', 'startedAt', to_timestamp((o.value->>'startedAt')::float8 / 1000),
      'expiresAt', to_timestamp((o.value->>'expiresAt')::float8 / 1000), 'reason', o.value->'reason') order by o.ordinality)
      filter (where o.value is not null), '[]') as overrides
    from users u left join lateral json_array_elements(u.overrides) with ordinality o on true
    where u.app_id = $1 and u.id = $2 group by u.id`,
  usage: `select u.id as "userId", coalesce(json_agg(json_build_object('featureId', c.feature_id, 'used', c.used,
      'resetPeriod', c.reset_period, 'periodStart', c.period_start) order by c.feature_id)
      filter (where c.feature_id is not null), '[]') as usage
    from users u left join lateral (
      select distinct on (feature_id, reset_period) * from usage_counter
      where app_id = u.app_id and user_uid = u.uid
      order by feature_id, reset_period, period_start desc) c on true
    where u.app_id = $1 and u.id = $2 group by u.id`,
  credit: `select c.id, u.id as "userId", c.feature_id as "featureId", c.amount, c.bought, c.used, c.kind, c.priority,
      c.effective_at as "effectiveAt", c.expires_at as "expiresAt", c.voided_at as "voidedAt", c.reason
    from credit c left join users u on u.app_id = c.app_id and u.uid = c.user_uid where c.app_id = $1 and c.id = $2`,
  reservation: `select r.id, u.id as "userId", r.feature_id as "featureId", r.state, r.settled,
      r.expires_at as "expiresAt", r.late
    from usage_reservation r left join users u on u.app_id = r.app_id and u.uid = r.user_uid
    where r.app_id = $1 and r.id = $2`,
  caps: `select u.id as "userId", coalesce(json_agg(json_build_object('featureId', c.feature_id,
      'entity', nullif(c.entity, ''), 'period', c.period, 'limit', c."limit") order by c.feature_id, c.entity, c.period)
      filter (where c.feature_id is not null), '[]') as caps
    from users u left join usage_cap c on c.app_id = u.app_id and c.user_uid = u.uid and c."limit" is not null
    where u.app_id = $1 and u.id = $2 group by u.id`,
  autoRecharges: `select u.id as "userId", coalesce(json_agg(json_build_object('featureId', r.feature_id,
      'below', r.below, 'upTo', r.up_to, 'priceId', r.price_id, 'maxSpendPerPeriod', r.max_spend, 'isOn', r.is_on)
      order by r.feature_id) filter (where r.feature_id is not null), '[]') as "autoRecharges"
    from users u left join recharge_rule r on r.app_id = u.app_id and r.user_uid = u.uid
    where u.app_id = $1 and u.id = $2 group by u.id`,
  // With their valid links.
  member: `select id::text, email, role,
      array(select i.email from invitation i where i.invited_by = m.email and i.expires_at > now()
        order by 1) as invitations,
      array(select o.email from password_reset r join member o on o.id = r.member_id
        where r.made_by = m.id and r.expires_at > now() order by 1) as "passwordResets"
    from member m where id::text = $2 and $1 = $1`,
  invitation: `select id, email, role, expires_at as "expiresAt" from invitation where id = $2 and $1 = $1`,
  import: `select id, state, rows, bad, changed, new_users as "newUsers", applied, created, refused, undone, removed, kept
    from user_import where app_id = $1 and id = $2`,
  price: `select id, provider, package_id as "packageId", feature_id as "featureId", units, expires_days as "expiresDays",
      amount, currency, interval, is_default as "isDefault", archived_at as "archivedAt"
    from price where app_id = $1 and id = $2 limit 1`,
  billingTemplate: `select id, name, archived_at as "archivedAt",
      (select json_agg(package_id order by position) from billing_template_item i
       where i.app_id = t.app_id and i.template_id = t.id) as "packageIds"
    from billing_template t where app_id = $1 and id = $2`,
  providerAccount: `select provider, enabled, secret_key is not null as "hasKey", webhook_secret is not null as
      "hasWebhookSecret", previous_webhook_secret is not null as "hasPreviousWebhookSecret", updated_at as "updatedAt"
    from provider_account where app_id = $1 and provider = $2`,
  webhookEndpoint: `select id, url, types, description, enabled, disabled_reason as "disabledReason",
      previous_secret_until as "previousSecretUntil" from webhook_endpoint where app_id = $1 and id = $2`,
  // Only the operation is logged for these.
  session: null,
  token: null,
  catalogue: null,
  sample: null,
  notice: null,
  auditLog: null,
  export: null,
  bulkChange: null,
} as const

export type SubjectKind = keyof typeof SNAPSHOTS

/** Owner of a kind of subject. The deletion of a user clears entries about the user and about their subscriptions. */
export const subjectOwner = (kind: string): 'user' | 'subscription' | 'other' =>
  Object.hasOwn(OWNERS, kind) ? OWNERS[kind as SubjectKind] : 'other'

const OWNERS: Record<SubjectKind, 'user' | 'subscription' | 'other'> = {
  user: 'user',
  subscriptions: 'user',
  usage: 'user',
  token: 'user',
  overrides: 'user',
  caps: 'user',
  autoRecharges: 'user',
  subscription: 'subscription',
  credit: 'other',
  reservation: 'other',
  app: 'other',
  apiKey: 'other',
  tokenKey: 'other',
  feature: 'other',
  package: 'other',
  migration: 'other',
  member: 'other',
  invitation: 'other',
  import: 'other',
  price: 'other',
  billingTemplate: 'other',
  providerAccount: 'other',
  webhookEndpoint: 'other',
  session: 'other',
  catalogue: 'other',
  sample: 'other',
  notice: 'other',
  auditLog: 'other',
  export: 'other',
  bulkChange: 'other',
}

/** The query for a subject by app ($1) and id ($2); null: nothing is shown. */
export const snapshotText = (kind: SubjectKind): string | null => SNAPSHOTS[kind]

/** Kinds whose subject is a user, by id. */
export const USER_KINDS = Object.keys(OWNERS).filter((kind) => OWNERS[kind as SubjectKind] === 'user')

/** The id of the user whose place has the subject; null: it is in no user's place, or in an unknown one. */
export function userOfSubject(
  kind: SubjectKind,
  id: string | null,
  before: JsonObject | null,
): string | null {
  if (OWNERS[kind] === 'user') return id
  return OWNERS[kind] === 'subscription' && typeof before?.userId === 'string' ? before.userId : null
}

/** Null: there is no such subject, or nothing is shown. */
export async function snapshot(
  db: HomeDb,
  kind: SubjectKind,
  appId: string,
  id: string | null,
): Promise<JsonObject | null> {
  const text = SNAPSHOTS[kind]
  if (text === null || id === null || !isIdentifier(id)) return null
  const ask = rowsOf<{ shown: JsonObject }>({
    text: `select to_json(x) as shown from (${text}) x`,
    values: [appId, id],
  })
  const read = {
    user: () => db.places.of(appId, id, ask),
    subscription: () => db.places.each(ask, anyRows()),
    other: () => ask(db),
  }[OWNERS[kind]]
  const [row] = await read()
  return row?.shown ?? null
}
