import type { Subject } from '../../domain/sentence.ts'
import { billingIdOwners, type HomeDb, implied } from '../connection/places.ts'
import { peopleOf } from '../subscriptions/subscribers.ts'

/** For each kind: how it is found by app ($2) and id ($3), and its name. */
const NAMES: Record<Subject['kind'], string> = {
  USER: 'select u.name from users u where u.app_id = w.app_id and u.id = w.id',
  FEATURE: 'select f.name from feature f where f.app_id = w.app_id and f.id = w.id',
  PACKAGE: 'select p.name from package p where p.app_id = w.app_id and p.id = w.id',
  TEMPLATE: 'select t.name from billing_template t where t.app_id = w.app_id and t.id = w.id',
  API_KEY: 'select k.name from api_key k where k.app_id = w.app_id and k.id = w.id',
  IMPORT: 'select null::text from user_import i where i.app_id = w.app_id and i.id = w.id',
  APP: 'select a.name from app a where a.id = w.id and a.deleting_since is null',
  MEMBER: 'select m.email from member m where m.email = w.id',
}

export const subjectKey = ({ kind, appId, id }: Subject): string => JSON.stringify([kind, appId, id])

/** The names of existing subjects, by `subjectKey`; null: it exists without a name. One statement for all of them. */
export async function namesOf(db: HomeDb, subjects: readonly Subject[]): Promise<Map<string, string | null>> {
  const wanted = [...new Map(subjects.map((subject) => [subjectKey(subject), subject])).entries()]
  if (wanted.length === 0) return new Map()
  const kinds = [...new Set(wanted.map(([, { kind }]) => kind))]
  const { rows } = await db.query<{ key: string; name: string | null }>(
    `with w as (select * from unnest($1::text[], $2::text[], $3::text[], $4::text[]) as w(key, kind, app_id, id))
     ${kinds
       .map(
         (kind) =>
           `select w.key, n.name from w cross join lateral (${NAMES[kind]}
              ${kind === 'USER' ? implied(db, 'u.app_id = any($3) and u.id = any($4)') : ''}) n(name) where w.kind = '${kind}'`,
       )
       .join('\n union all ')}`,
    [
      wanted.map(([key]) => key),
      wanted.map(([, { kind }]) => kind),
      wanted.map(([, { appId }]) => appId ?? ''),
      wanted.map(([, { id }]) => id),
    ],
  )
  return new Map(rows.map(({ key, name }) => [key, name]))
}

/** Where objects of an app have names, besides users. */
const NAMED = ['feature', 'package', 'billing_template', 'api_key']

/** The ids of objects of an app whose names contain a text; few objects have the same words in their names. */
export async function idsByName(db: HomeDb, appId: string, text: string, most: number): Promise<string[]> {
  const each = NAMED.map(
    (table) =>
      `(select id from ${table} where app_id = $1 and position(lower($2) in lower(name)) > 0 order by id limit $3)`,
  )
  const { rows } = await db.query<{ id: string }>(`${each.join(' union ')} limit $3`, [appId, text, most])
  return rows.map(({ id }) => id)
}

/** The users of providers' customers, subscriptions and payments, by `provider ref`. */
export async function payersOf(
  db: HomeDb,
  appId: string,
  refs: readonly { provider: string; ref: string }[],
): Promise<Map<string, { id: string; name: string | null }>> {
  if (refs.length === 0) return new Map()
  const { rows } = await db.query<{ key: string; uid: number }>(
    `select w.provider || ' ' || w.ref as key, payer.uid
     from (select distinct * from unnest($2::text[], $3::text[]) as r(provider, ref)) w
     cross join lateral (
       select p.user_uid as uid from provider_subscription p
       where p.app_id = $1 and p.provider = w.provider and p.ref = w.ref
       union all
       select p.user_uid from provider_subscription p
       where p.app_id = $1 and p.provider = w.provider and p.customer_ref = w.ref
       union all
       select b.uid from ${billingIdOwners(db)} b where b.app_id = $1 and b.billing_id = w.ref
       limit 1) payer`,
    [appId, refs.map(({ provider }) => provider), refs.map(({ ref }) => ref)],
  )
  const people = await peopleOf(
    db,
    appId,
    rows.map(({ uid }) => uid),
  )
  return new Map(
    rows.flatMap(({ key, uid }) => {
      const person = people.get(uid)
      return person ? [[key, { id: person.userId, name: person.name }]] : []
    }),
  )
}
