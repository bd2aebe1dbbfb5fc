import {
  MAX_API_KEYS,
  MAX_BILLING_TEMPLATES,
  MAX_FEATURES,
  MAX_MEMBERS,
  MAX_PACKAGES,
  MAX_PRICES,
} from '../../src/domain/limits.ts'
import type { Answer } from '../harness/client.ts'
import { rowsOf, UNREPORTED } from '../harness/database.ts'
import { type Bound, expectAnswer, expectRefusal, type World } from './bound.ts'

// What a page shows and a process remembers as a whole. All but the last are put into the database directly.

export const collectionBounds: Bound[] = [
  ofApp('MAX_FEATURES', MAX_FEATURES, {
    fill: `insert into feature (app_id, id, name, type, metadata)
      select $1, 'f' || i, 'F', 'BINARY', '{}' from generate_series(1, $2::int) i`,
    add: `mutation ($app: String!) { createFeature(appId: $app, input: { id: "last", name: "L", type: BINARY }) { id } }`,
    says: /^An app can have at most 5000 features\. /,
  }),
  ofApp('MAX_FEATURES', MAX_FEATURES, {
    what: 'that a catalogue brings along when it is copied',
    fill: `insert into feature (app_id, id, name, type, metadata)
      select $1, 'f' || i, 'F', 'BINARY', '{}' from generate_series(1, $2::int) i`,
    add: 'mutation ($app: String!, $from: String!) { copyCatalogue(appId: $app, fromAppId: $from) { features { id } } }',
    says: /^An app can have at most 5000 features\. /,
  }),
  ofApp('MAX_PACKAGES', MAX_PACKAGES, {
    fill: `insert into package (app_id, id, name, is_addon, metadata, updated_at)
      select $1, 'p' || i, 'P', true, '{}', now() from generate_series(1, $2::int) i`,
    add: `mutation ($app: String!) { createPackage(appId: $app, input: { id: "last", name: "L", features: [] }) { id } }`,
    says: /^An app can have at most 5000 packages\. /,
  }),
  ofApp('MAX_PRICES', MAX_PRICES, {
    what: 'of one app, archived ones included',
    fill: `with plan as (insert into package (app_id, id, name, is_addon, metadata, updated_at)
        values ($1, 'plan', 'P', false, '{}', now()))
      insert into price (app_id, provider, id, package_id, amount, currency, interval, archived_at)
      select $1, 'sandbox', 'p' || i, 'plan', 100, 'usd', 'month', case when i % 2 = 0 then now() end
      from generate_series(1, $2::int) i`,
    add: `mutation ($app: String!) { createPrice(appId: $app, packageId: "plan", input: { amount: 100, currency: "usd" }) { id } }`,
    says: /^An app can have at most 5000 prices, /,
  }),
  ofApp('MAX_BILLING_TEMPLATES', MAX_BILLING_TEMPLATES, {
    what: 'of one app, archived ones included',
    fill: `with plan as (insert into package (app_id, id, name, is_addon, metadata, updated_at)
        values ($1, 'plan', 'P', false, '{}', now()))
      insert into billing_template (app_id, id, name) select $1, 't' || i, 'T' from generate_series(1, $2::int) i`,
    add: `mutation ($app: String!) { createBillingTemplate(appId: $app, input: { id: "last", name: "L", packageIds: ["plan"] }) { id } }`,
    says: /^An app can have at most 5000 billing templates\. /,
  }),
  ofApp('MAX_API_KEYS', MAX_API_KEYS, {
    what: 'that work, of one app; revoked and expired ones do not count',
    fill: `insert into api_key (app_id, id, name, prefix, hash, revoked_at, expires_at)
      select $1, 'k' || i, 'k', 'tg_', sha256(($1 || i)::bytea),
        case when i > $2 then now() end, case when i > $2 + 10 then now() - interval '1 day' end
      from generate_series(1, $2::int + 20) i`,
    add: 'mutation ($app: String!) { createApiKey(appId: $app, name: "last") { id } }',
    says: /^An app can have at most 1000 valid API keys\. /,
  }),
  {
    limit: 'MAX_MEMBERS',
    what: 'members and open invitations together',
    works: (world) => withMembers(world, MAX_MEMBERS - 1, expectAnswer),
    refused: (world) =>
      withMembers(world, MAX_MEMBERS, (answer) =>
        expectRefusal(answer, /^There can be at most 5000 members and open invitations$/),
      ),
  },
]

interface Collection {
  what?: string
  fill: string
  add: string
  says: RegExp
}

function ofApp(limit: Bound['limit'], most: number, { what, fill, add, says }: Collection): Bound {
  const addTo = async (world: World, rows: number): Promise<Answer> => {
    const { dashboard, databaseUrl } = world
    const [app, from] = [world.fresh(), world.fresh()]
    for (const id of [app, from]) {
      await dashboard.data('mutation ($id: String!) { createApp(id: $id, name: "Full") { id } }', { id })
    }
    await dashboard.call('createFeature', {
      appId: from,
      input: { id: 'brought', name: 'B', type: 'BINARY' },
    })
    await rowsOf({ connectionString: databaseUrl, ...UNREPORTED }, fill, [app, rows])
    return inTime(() => dashboard.ask(add, { app, ...(add.includes('$from') && { from }) }))
  }
  return {
    limit,
    what: what ?? 'of one app',
    works: async (world) => expectAnswer(await addTo(world, most - 1)),
    refused: async (world) => expectRefusal(await addTo(world, most), says),
  }
}

/** On a busy machine a full app may take longer to read than a request may. Nothing is written then, so the call is repeated. */
async function inTime(ask: () => Promise<Answer>): Promise<Answer> {
  for (let left = 5; ; left--) {
    const answer = await ask()
    if (left === 0 || answer.errors?.[0]?.extensions.code !== 'UNAVAILABLE') return answer
  }
}

/** Invites somebody to an installation with so many members and invitations; afterwards there are as many as before. */
async function withMembers(world: World, people: number, check: (answer: Answer) => void): Promise<void> {
  const db = { connectionString: world.databaseUrl }
  const [found] = await rowsOf<{ count: string }>(
    db,
    `select (select count(*) from member) + (select count(*) from invitation where expires_at > now()) as count`,
  )
  const many = people - Number(found?.count)
  await rowsOf(
    db,
    `with added as (
       insert into member (email, password_hash, role)
       select 'many-' || i || '@example.com', '', 'VIEWER' from generate_series(1, $1::int - 1) i)
     insert into invitation (id, email, role, hash, invited_by, created_at, expires_at)
     values ('many', 'many@example.com', 'VIEWER', 'many', 'x', now(), now() + interval '1 day')`,
    [many],
  )
  try {
    check(
      await world.dashboard.ask(
        'mutation ($email: String!) { inviteMember(email: $email, role: VIEWER) { id } }',
        { email: 'many-last@example.com' },
      ),
    )
  } finally {
    await rowsOf(db, `delete from member where email like 'many%'`)
    await rowsOf(db, `delete from invitation where email like 'many%'`)
  }
}
