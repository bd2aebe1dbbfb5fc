import {
  LATEST_TEST_CLOCK,
  MAX_IDENTIFIER_CHARACTERS,
  MAX_METADATA_BYTES,
  MAX_METADATA_DEPTH,
  MAX_ORIGINS,
  MAX_PACKAGE_FEATURES,
  MAX_PACKAGE_HISTORY,
  MAX_TEXT_CHARACTERS,
} from '../../src/domain/limits.ts'
import type { TestApp } from '../harness/catalogue.ts'
import type { Answer } from '../harness/client.ts'
import { rowsOf, UNREPORTED } from '../harness/database.ts'
import { createApp } from '../harness/server.ts'
import { type Bound, CREATE_FEATURE, CREATE_PACKAGE, CREATE_USER, valueBound, type World } from './bound.ts'

type Field = [what: string, call: (world: World, value: string) => Promise<Answer>]

const CREATE_APP = 'mutation ($id: String!, $name: String!) { createApp(id: $id, name: $name) { id } }'

const identifiers: Field[] = [
  ['a user', ({ admin }, id) => admin.ask(CREATE_USER, { input: { id } })],
  [
    'a billing id',
    ({ admin, fresh }, billingId) => admin.ask(CREATE_USER, { input: { id: fresh(), billingId } }),
  ],
  ['a feature', ({ admin }, id) => admin.ask(CREATE_FEATURE, { input: { id, name: 'F', type: 'BINARY' } })],
  ['a package', ({ admin }, id) => admin.ask(CREATE_PACKAGE, { input: { id, name: 'P' } })],
  ['an app', ({ dashboard }, id) => dashboard.ask(CREATE_APP, { id, name: 'A' })],
]

const texts: Field[] = [
  ["a user's name", ({ admin, fresh }, name) => admin.ask(CREATE_USER, { input: { id: fresh(), name } })],
  [
    "a user's email",
    // As long as the text, and an address.
    ({ admin, fresh }, text) =>
      admin.ask(CREATE_USER, { input: { id: fresh(), email: text.replace(/^../, 'a@') } }),
  ],
  ...['name', 'unitLabel', 'unitLabelPlural'].map(
    (field): Field => [
      `a feature's ${field}`,
      ({ admin, fresh }, text) =>
        admin.ask(CREATE_FEATURE, { input: { id: fresh(), name: 'F', type: 'CONSUMABLE', [field]: text } }),
    ],
  ),
  [
    "a package's name",
    ({ admin, fresh }, name) => admin.ask(CREATE_PACKAGE, { input: { id: fresh(), name } }),
  ],
  ["an app's name", ({ dashboard, fresh }, name) => dashboard.ask(CREATE_APP, { id: fresh(), name })],
  [
    "an API key's name",
    ({ dashboard }, name) =>
      dashboard.ask('mutation ($name: String!) { createApiKey(appId: "default", name: $name) { id } }', {
        name,
      }),
  ],
  [
    "an edited package's name",
    async ({ admin, dashboard, fresh }, name) => {
      const id = fresh()
      await admin.data(CREATE_PACKAGE, { input: { id, name: 'P' } })
      return dashboard.ask(
        `mutation ($id: String!, $name: String!) {
          editPackage(appId: "default", id: $id, input: { name: $name }) { id }
        }`,
        { id, name },
      )
    },
  ],
]

const asVariable = ({ admin, fresh }: World, metadata: object) =>
  admin.ask(CREATE_USER, { input: { id: fresh(), metadata } })
const asLiteral = ({ admin, fresh }: World, metadata: object) =>
  admin.ask(`mutation { createUser(input: {id: "${fresh()}", metadata: ${literal(metadata)}}) { id } }`)

/** JSON as GraphQL writes it: names without quotes. */
const literal = (value: object): string => JSON.stringify(value).replace(/"(\w+)":/g, '$1:')

/** So many bytes of JSON, of which `{"text":""}` takes 11. */
function ofBytes(bytes: number, filler: string): object {
  const wide = Buffer.byteLength(filler)
  const left = bytes - 11
  return { text: filler.repeat(Math.floor(left / wide)) + 'x'.repeat(left % wide) }
}

function ofDepth(levels: number, wrap: (inner: object) => object): object {
  let value = {}
  for (let level = 1; level < levels; level++) value = level === levels - 1 ? { in: value } : wrap(value)
  return value
}

export const valueBounds: Bound[] = [
  valueBound(
    'MAX_PACKAGE_HISTORY',
    'versions since everybody had the same one',
    { within: MAX_PACKAGE_HISTORY - 1, beyond: MAX_PACKAGE_HISTORY },
    publishedAfter,
    /published or migrated 100 times since it was last published for ALL\. Publish it for ALL first/,
  ),
  ...identifiers.flatMap(([what, call]) => [
    valueBound(
      'MAX_IDENTIFIER_CHARACTERS',
      `the id of ${what}`,
      { within: MAX_IDENTIFIER_CHARACTERS, beyond: MAX_IDENTIFIER_CHARACTERS + 1 },
      (world, length) => call(world, world.fresh().padEnd(length, '中')),
      /[iI]d must be 1 to 255 characters/,
    ),
    valueBound(
      'MAX_IDENTIFIER_CHARACTERS',
      `the shortest id of ${what}`,
      { within: '中', beyond: '' },
      call,
      /[iI]d must be 1 to 255 characters/,
    ),
  ]),
  ...texts.map(([what, call]) =>
    valueBound(
      'MAX_TEXT_CHARACTERS',
      what,
      { within: '中'.repeat(MAX_TEXT_CHARACTERS), beyond: '中'.repeat(MAX_TEXT_CHARACTERS + 1) },
      call,
      /must be at most 1024 characters/,
    ),
  ),
  ...(['x', '中'] as const).flatMap((filler) =>
    [asVariable, asLiteral].map((call) =>
      valueBound(
        'MAX_METADATA_BYTES',
        `metadata of ${filler}, ${call === asVariable ? 'as a variable' : 'in the document'}`,
        { within: ofBytes(MAX_METADATA_BYTES, filler), beyond: ofBytes(MAX_METADATA_BYTES + 1, filler) },
        call,
        /metadata must be at most 16384 bytes/,
      ),
    ),
  ),
  ...[asVariable, asLiteral].flatMap((call) =>
    [(inner: object) => ({ in: inner }), (inner: object) => [inner]].map((wrap) =>
      valueBound(
        'MAX_METADATA_DEPTH',
        `levels of ${JSON.stringify(wrap({}))}, ${call === asVariable ? 'as a variable' : 'in the document'}`,
        { within: ofDepth(MAX_METADATA_DEPTH, wrap), beyond: ofDepth(MAX_METADATA_DEPTH + 1, wrap) },
        call,
        /metadata must be nested at most 32 levels/,
      ),
    ),
  ),
  valueBound(
    'MAX_METADATA_DEPTH',
    'levels of a variable inside a literal',
    { within: MAX_METADATA_DEPTH - 1, beyond: MAX_METADATA_DEPTH },
    ({ admin, fresh }, levels) =>
      admin.ask(
        `mutation ($in: JSON) { createUser(input: {id: "${fresh()}", metadata: {out: $in}}) { id } }`,
        { in: ofDepth(levels, (inner) => ({ in: inner })) },
      ),
    /metadata must be nested at most 32 levels/,
  ),
  packageFeatures('created', async ({ admin }, features) =>
    admin.ask(CREATE_PACKAGE, { input: { id: 'p', name: 'P', features } }),
  ),
  packageFeatures('edited', async ({ id, admin, dashboard }, features) => {
    await admin.data(CREATE_PACKAGE, { input: { id: 'p', name: 'P' } })
    return dashboard.ask(
      `mutation ($app: String!, $features: [EditPackageFeatureInput!]) {
        editPackage(appId: $app, id: "p", input: { features: $features }) { id }
      }`,
      { app: id, features },
    )
  }),
  valueBound(
    'MAX_ORIGINS',
    'origins of an app',
    { within: MAX_ORIGINS, beyond: MAX_ORIGINS + 1 },
    ({ dashboard }, count) =>
      dashboard.ask(
        'mutation ($origins: [String!]!) { setOrigins(appId: "default", origins: $origins) { id } }',
        { origins: Array.from({ length: count }, (_, i) => `https://${i}.example.com`) },
      ),
    /origins must contain at most 100 origins/,
  ),
  valueBound(
    'LATEST_TEST_CLOCK',
    'the time of a test clock',
    { within: LATEST_TEST_CLOCK, beyond: LATEST_TEST_CLOCK + 1 },
    async (world, time) => {
      const id = world.fresh()
      await createApp(world, id, { testClock: true })
      return world.dashboard.ask(
        'mutation ($id: String!, $to: String!) { advanceClock(appId: $id, to: $to) { id } }',
        { id, to: new Date(time).toISOString() },
      )
    },
    /test clock cannot be set later than 9000-01-01/,
  ),
]

/** In an app of its own: the others would read the largest packages there may be again and again. */
function packageFeatures(
  what: string,
  call: (app: TestApp, features: { id: string }[]) => Promise<Answer>,
): Bound {
  return valueBound(
    'MAX_PACKAGE_FEATURES',
    `features of a package when it is ${what}`,
    { within: MAX_PACKAGE_FEATURES, beyond: MAX_PACKAGE_FEATURES + 1 },
    async (world, count) => {
      const id = world.fresh()
      const app = { id, admin: await createApp(world, id), dashboard: world.dashboard }
      await rowsOf(
        { connectionString: world.databaseUrl, ...UNREPORTED },
        `insert into feature (app_id, id, name, type, metadata)
         select $1, 'bulk-' || n, 'Bulk', 'BINARY', '{}' from generate_series(1, $2::int) n`,
        [id, MAX_PACKAGE_FEATURES + 1],
      )
      return call(
        app,
        Array.from({ length: count }, (_, i) => ({ id: `bulk-${i + 1}` })),
      )
    },
    /can have at most 1000 features/,
  )
}

/** Publishes a package for new customers only, after so many such publications. */
async function publishedAfter(world: World, earlier: number): Promise<Answer> {
  const { admin, dashboard, fresh, databaseUrl } = world
  const id = fresh()
  await admin.data(CREATE_PACKAGE, { input: { id, name: 'P' } })
  await dashboard.data('mutation ($id: String!) { publishPackage(appId: "default", id: $id) { id } }', { id })
  await rowsOf(
    { connectionString: databaseUrl, ...UNREPORTED },
    `with published as (
       insert into package_history (app_id, package_id, position, kind, from_version, to_version, reach, at, features)
       select 'default', $1, n, 'PUBLISHED', n - 1, n, 'NEW_ONLY', now(), '[]' from generate_series(2, $2 + 1) n)
     update package set version = $2 + 1, history = $2 + 1 where app_id = 'default' and id = $1`,
    [id, earlier],
  )
  return dashboard.ask(
    `mutation ($id: String!) {
      editPackage(appId: "default", id: $id, input: { name: "Next" }) { id }
      publishPackage(appId: "default", id: $id, for: NEW_ONLY) { id }
    }`,
    { id },
  )
}
