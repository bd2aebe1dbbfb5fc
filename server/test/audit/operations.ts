import assert from 'node:assert/strict'
import type { Variables } from '../harness/client.ts'
import { type Audit, section } from './audit.ts'
import { operation, typeNamed, written } from './introspect.ts'

interface Operation {
  name: string
  /** the arguments as the spec's table has them */
  args: Record<string, string>
  variables: Variables
  returns: string | RegExp
  /** every field of the result that the spec lists */
  selects: string
}

const FEATURE =
  '{ id name type unitLabel unitLabelPlural metadata packages { id name status metadata isAddon updatedAt } }'
const PACKAGE = `{ id name status metadata isAddon updatedAt
  features { id name limit type unitLabel unitLabelPlural metadata }
  prices { id provider amount displayAmount currency interval } }`
const USER = '{ id billingId name email metadata }'
const SUBSCRIPTION = '{ id userId status package { id name } metadata }'
const PERIOD = '{ periodStart periodEnd consumption { budget used overageEnabled } }'

const id = 'audit-nothing'
const both = { userId: 'String!', featureId: 'String!' }
const bothValues = { userId: id, featureId: id }

const QUERIES: Operation[] = [
  { name: 'feature', args: { id: 'String!' }, variables: { id }, returns: 'Feature', selects: FEATURE },
  { name: 'features', args: {}, variables: {}, returns: '[Feature!]!', selects: FEATURE },
  {
    name: 'canUseFeature',
    args: { ...both, delta: 'Int' },
    variables: { ...bothValues, delta: 2 },
    returns: 'CanUseFeatureData',
    selects: '{ access reason consumption { budget used overageEnabled } }',
  },
  {
    name: 'showUsage',
    args: both,
    variables: bothValues,
    returns: 'ShowUsageData',
    selects: `{ current ${PERIOD} past ${PERIOD} }`,
  },
  {
    name: 'package',
    args: { id: 'String!', includeFeatures: 'Boolean' },
    variables: { id, includeFeatures: true },
    returns: 'Package',
    selects: PACKAGE,
  },
  {
    name: 'packages',
    args: { status: 'String', includeFeatures: 'Boolean' },
    variables: { status: 'DRAFT', includeFeatures: true },
    returns: '[Package!]!',
    selects: PACKAGE,
  },
  { name: 'user', args: { id: 'String!' }, variables: { id }, returns: 'User', selects: USER },
  { name: 'users', args: {}, variables: {}, returns: '[User!]!', selects: USER },
  {
    name: 'subscription',
    args: { id: 'String!' },
    variables: { id },
    returns: 'PackageSubscription',
    selects: SUBSCRIPTION,
  },
  {
    name: 'subscriptions',
    args: { userId: 'String' },
    variables: { userId: id },
    returns: /^\[PackageSubscription!?\]!?$/,
    selects: SUBSCRIPTION,
  },
]

const metadata = { a: 1 }
const MUTATIONS: Operation[] = [
  {
    name: 'createFeature',
    args: { input: 'CreateFeatureInput!' },
    variables: {
      input: { id, name: 'N', type: 'CONSUMABLE', unitLabel: 'u', unitLabelPlural: 'us', metadata },
    },
    returns: 'Feature',
    selects: FEATURE,
  },
  {
    name: 'updateFeature',
    args: { id: 'String!', input: 'UpdateFeatureInput!' },
    variables: { id, input: { name: 'N', unitLabel: 'u', unitLabelPlural: 'us', metadata } },
    returns: 'Feature',
    selects: FEATURE,
  },
  {
    name: 'createPackage',
    args: { input: 'CreatePackageInput!' },
    variables: {
      input: {
        id,
        name: 'N',
        isAddon: false,
        metadata,
        features: [{ id, entitlement: { limit: 1, resetPeriod: 'MONTH', overageEnabled: true } }],
      },
    },
    returns: 'Package',
    selects: PACKAGE,
  },
  {
    name: 'updatePackage',
    args: { id: 'String!', input: 'UpdatePackageInput!' },
    variables: { id, input: { metadata } },
    returns: 'Package',
    selects: PACKAGE,
  },
  {
    name: 'createUser',
    args: { input: 'CreateUserInput!' },
    variables: { input: { id, billingId: 'b', name: 'N', email: 'n@example.com', metadata } },
    returns: 'User',
    selects: USER,
  },
  {
    name: 'updateUser',
    args: { id: 'String!', input: 'UpdateUserInput!' },
    variables: { id, input: { id, name: 'N', metadata } },
    returns: 'User',
    selects: USER,
  },
  {
    name: 'subscribe',
    args: { packageIds: '[String!]!', userId: 'String!' },
    variables: { packageIds: [id], userId: id },
    returns: /^\[PackageSubscription!?\]$/,
    selects: SUBSCRIPTION,
  },
  {
    name: 'recordUsage',
    args: { input: 'CreateUsageEventInput!' },
    variables: { input: { ...bothValues, delta: 1, action: 'SET' } },
    returns: 'RecordedUsage',
    selects: '{ recorded reason }',
  },
  {
    name: 'generateSubscriptionLink',
    args: { userId: 'String', templateId: 'String!', successUrl: 'String!', cancelUrl: 'String!' },
    variables: {
      userId: id,
      templateId: id,
      successUrl: 'https://a.example',
      cancelUrl: 'https://b.example',
    },
    returns: 'SubscriptionLink',
    selects: '{ url }',
  },
  {
    name: 'generateUserToken',
    args: { userId: 'String!' },
    variables: { userId: id },
    returns: 'GeneratedUserToken',
    selects: '{ token }',
  },
]

const slug = (name: string) => name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)

const audited = (root: 'Query' | 'Mutation', operations: Operation[]) =>
  operations.map(({ name, args, variables, returns, selects }) =>
    section(`spec §4 ${root === 'Query' ? 'queries' : 'mutations'} table`).withKey(
      `S4.${root === 'Query' ? 'Q' : 'M'}0.${slug(name)}`,
      `${name} takes the arguments and returns the type and fields that the spec lists.`,
      async ({ admin }) => {
        const declared = Object.entries(args).map(([arg, type]) => `$${arg}: ${type}`)
        const passed = Object.keys(args).map((arg) => `${arg}: $${arg}`)
        const list = (items: string[]) => (items.length > 0 ? `(${items.join(', ')})` : '')
        // Left out at execution: what is asked is whether it would be accepted.
        const field = `${name}${list(passed)} @include(if: false) ${selects}`
        const document = `${root.toLowerCase()} ${list(declared)} { ${field} }`
        assert.deepEqual(await admin.ask(document, variables), { status: 200, data: {} })

        const type = written((await operation(admin, root, name)).type)
        const same = typeof returns === 'string' ? type === returns : returns.test(type)
        assert.ok(same, `${name} returns ${type}, not ${returns}`)
      },
    ),
  )

const DEFAULTS: [operation: string, argument: string, value: string][] = [
  ['canUseFeature', 'delta', '1'],
  ['package', 'includeFeatures', 'false'],
  ['packages', 'includeFeatures', 'false'],
  ['packages', 'status', '"PUBLISHED"'],
]

const defaults = DEFAULTS.map(([name, argument, value]) =>
  section('spec §4 queries table').withKey(
    `S4.Q0.${slug(name)}-${slug(argument)}-default`,
    `${argument} of ${name} is ${value} when left out.`,
    async ({ admin }) => {
      const { args } = await operation(admin, 'Query', name)
      assert.equal(args.find((a) => a.name === argument)?.defaultValue, value)
    },
  ),
)

const others: Audit[] = [
  section('spec §3 package status').withKey(
    'S3.P.no-operation-publishes',
    'The Admin API has no operation that publishes a package or changes its status.',
    async ({ admin }) => {
      const names = (await typeNamed(admin, 'Mutation')).fields?.map((f) => f.name) ?? []
      assert.ok(names.includes('updatePackage'))
      assert.deepEqual(
        names.filter((name) => /publish|status/i.test(name)),
        [],
      )
    },
  ),
]

export const operations: Audit[] = [
  ...audited('Query', QUERIES),
  ...audited('Mutation', MUTATIONS),
  ...defaults,
  ...others,
]
