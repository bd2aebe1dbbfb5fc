import { isCharged, STILL_CHARGED } from '../billing/provider-subscriptions.ts'
import { numberArray, textArray } from '../connection/arrays.ts'
import { timestamp } from '../connection/database.ts'
import { billingIdOwners, type HomeDb, implied } from '../connection/places.ts'

/** A row with a user and the values to set; with `set…` false, a value is not changed. */
export interface StagedRow {
  line: number
  id: string
  email: string | null
  setEmail: boolean
  billingId: string | null
  setBillingId: boolean
  name: string | null
  setName: boolean
  /** JSON; null: not to be set */
  metadata: string | null
  plan: string | null
  /** why no new user can have this plan */
  planProblem: string | null
  /** whether an unknown id is a new user */
  create: boolean
}

interface Staged {
  bad: number
  unchanged: number
  changed: number
  created: number
  /** the lines of skipped rows; null: none */
  leftOut: number[] | null
}

/**
 * The provisional number of a new user: negative, so that it is nobody's, and the same for all rows with that id. The
 * index that finds two rows for one user then finds two rows for one new user.
 */
const provisional = (id: string) => `(-1 - (hashtextextended(${id}, 0) & 9223372036854775807))`

/** Their base plan now. */
const planOf = (user: string, now: string) => `(select s.package_id from subscription s
  where s.app_id = ${user}.app_id and s.user_uid = ${user}.uid and s.cancelled_at is null and not s.is_addon
    and (s.cancel_at is null or s.cancel_at > ${now}) and (s.follows is null or s.started_at <= ${now}) limit 1)`

/**
 * Stores the rows with their users' current values, and counts the outcomes. A row is skipped if an earlier one has the
 * same user, or gives its billing id to another.
 */
export async function stageRows(
  db: HomeDb,
  appId: string,
  importId: string,
  rows: readonly StagedRow[],
  now: number,
): Promise<Staged> {
  const flag = (set: boolean) => (set ? 't' : 'f')
  const { rows: staged } = await db.query<Staged>(
    `with given as materialized (
       select $1 as app_id, r.* from unnest($3::bigint[], $4::text[], $5::text[], $6::boolean[], $7::text[], $8::boolean[],
         $9::text[], $10::boolean[], $11::text[], $12::text[], $13::text[], $14::boolean[])
         as r (line, id, new_email, set_email, new_billing_id, set_billing_id, new_name, set_name, new_metadata, plan,
           plan_problem, creates)),
     found as materialized (
       select r.line, r.id, coalesce(u.uid, ${provisional('r.id')}) as uid, u.uid is null as is_new, u.email, u.billing_id,
         case when r.set_email then r.new_email else u.email end as new_email,
         case when r.set_billing_id then r.new_billing_id else u.billing_id end as new_billing_id,
         case when r.set_name then u.name end as name, case when r.set_name then r.new_name end as new_name,
         case when r.new_metadata <> u.metadata::text then u.metadata::text end as metadata,
         case when u.uid is null then coalesce(r.new_metadata, '{}')
           when r.new_metadata <> u.metadata::text then r.new_metadata end as new_metadata,
         r.plan, r.plan_problem,
         case when u.uid is null and not r.creates then 'UNKNOWN_USER'
           when r.set_billing_id and exists (select from ${billingIdOwners(db)} o where o.app_id = r.app_id
             and o.billing_id = r.new_billing_id and o.uid is distinct from u.uid) then 'BILLING_ID_TAKEN'
           when u.uid is null and r.plan_problem is not null then 'BAD_PLAN'
           when r.set_billing_id and r.new_billing_id is distinct from u.billing_id
             and ${isCharged('u.app_id', 'u.uid', 'u.billing_id')} then 'BILLING_ID_CHARGED'
           when u.uid is not null and r.plan is not null
             and r.plan is distinct from ${planOf('u', '$15::timestamptz')} then 'PLAN_DIFFERS' end as problem
       from given r left join users u on u.app_id = r.app_id and u.id = r.id
         ${implied(db, 'u.app_id = $1 and u.id = any($4)')}),
     kept as (
       insert into user_import_row (app_id, import_id, line, user_id, user_uid, outcome, problem, message,
         old_email, new_email, old_billing_id, new_billing_id, old_name, new_name, old_metadata, new_metadata, plan)
       select $1, $2, line, id, case when problem is null then uid end,
         case when problem is not null then 'BAD'
           when is_new then 'CREATE'
           when (new_email, new_billing_id, new_name) is not distinct from (email, billing_id, name)
             and new_metadata is null then 'UNCHANGED'
           else 'CHANGE' end,
         problem,
         case problem when 'UNKNOWN_USER' then 'The user does not exist'
           when 'BILLING_ID_TAKEN' then 'Another user already has this billingId'
           when 'BILLING_ID_CHARGED' then '${STILL_CHARGED}'
           when 'BAD_PLAN' then plan_problem
           when 'PLAN_DIFFERS' then 'An import does not change the plans of existing users' end,
         email, case when problem is null then new_email end,
         billing_id, case when problem is null then new_billing_id end,
         case when problem is null then name end, case when problem is null then new_name end,
         case when problem is null then metadata end, case when problem is null then new_metadata end,
         case when problem is null and is_new then plan end
       from found order by line
       on conflict do nothing returning line, outcome)
     select count(*) filter (where outcome = 'BAD') as bad, count(*) filter (where outcome = 'UNCHANGED') as unchanged,
       count(*) filter (where outcome = 'CHANGE') as changed, count(*) filter (where outcome = 'CREATE') as created,
       (select json_agg(line) from given where line not in (select line from kept)) as "leftOut" from kept`,
    [
      appId,
      importId,
      numberArray(rows, (r) => r.line),
      textArray(rows, (r) => r.id),
      textArray(rows, (r) => r.email),
      textArray(rows, (r) => flag(r.setEmail)),
      textArray(rows, (r) => r.billingId),
      textArray(rows, (r) => flag(r.setBillingId)),
      textArray(rows, (r) => r.name),
      textArray(rows, (r) => flag(r.setName)),
      textArray(rows, (r) => r.metadata),
      textArray(rows, (r) => r.plan),
      textArray(rows, (r) => r.planProblem),
      textArray(rows, (r) => flag(r.create)),
      timestamp(now),
    ],
  )
  const [one] = staged
  if (!one) throw new Error('the aggregate query returned no row')
  return one
}

/** Users that an earlier row of the import already contains. */
export async function usersInImport(
  db: HomeDb,
  appId: string,
  importId: string,
  ids: readonly string[],
): Promise<Set<string>> {
  const { rows } = await db.query<{ id: string }>(
    `select u.id from users u join user_import_row r on r.app_id = u.app_id and r.import_id = $2 and r.user_uid = u.uid
     where u.app_id = $1 and u.id = any($3)
     union all
     select g.id from unnest($3::text[]) as g (id) join user_import_row r on r.app_id = $1 and r.import_id = $2
       and r.user_uid = ${provisional('g.id')}`,
    [appId, importId, ids],
  )
  return new Set(rows.map(({ id }) => id))
}
