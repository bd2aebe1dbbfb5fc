import assert from 'node:assert/strict'
import { type Audit, section } from './audit.ts'
import { loosely, typeNamed } from './introspect.ts'

const inputObjects = section('spec §2 input objects')

type Fields = Record<string, string | RegExp>

/** The fields of a type: `name: Type`, separated by commas. */
const fieldsOf = (text: string): Fields =>
  Object.fromEntries(
    text.split(', ').map((field) => {
      const [name = '', type = ''] = field.split(': ')
      return [name, TYPES[type] ?? type]
    }),
  )

/** Where the spec does not name the type. */
const TYPES: Record<string, RegExp> = {
  // An integer or whole number: the spec does not say which scalar.
  Whole: /^(Int|SafeInt)$/,
  Object: /^\w+$/,
  List: /^\[\w+\]$/,
}

const LABELS = 'unitLabel: String, unitLabelPlural: String, metadata: JSON'

/** What the spec's tables list. Objects may have more; what is there has this type. */
const OBJECTS: [letter: string, type: string, fields: string][] = [
  ['F', 'Feature', `id: String, name: String, type: FeatureType, ${LABELS}, packages: [Package]`],
  [
    'P',
    'Package',
    'id: String, name: String, status: PackageStatus, metadata: JSON, features: [PackageFeature], prices: [Price], isAddon: Boolean, updatedAt: String',
  ],
  ['P', 'PackageFeature', `id: String, name: String, limit: String, type: FeatureType, ${LABELS}`],
  [
    'P',
    'Price',
    'id: String, provider: String, amount: Whole, displayAmount: String, currency: String, interval: String',
  ],
  ['U', 'User', 'id: String, billingId: String, name: String, email: String, metadata: JSON'],
  [
    'S',
    'PackageSubscription',
    'id: String, userId: String, status: SubscriptionStatus, package: Package, metadata: JSON',
  ],
  ['R', 'CanUseFeatureData', 'access: Boolean, reason: String, consumption: Consumption'],
  ['R', 'Consumption', 'budget: Float, used: Float, overageEnabled: Boolean'],
  ['R', 'ShowUsageData', 'current: Object, past: List'],
  ['R', 'RecordedUsage', 'recorded: Boolean, reason: String'],
  ['R', 'SubscriptionLink', 'url: String'],
  ['R', 'GeneratedUserToken', 'token: String'],
]

/** Inputs have these fields and no others: one that is not there cannot be changed. The idempotency key, the entities, the thresholds, the costs, the caps and the overage cap are additions to the spec. */
const INPUTS: [type: string, fields: string][] = [
  ['CreateUserInput', 'id: String, billingId: String, name: String, email: String, metadata: JSON'],
  ['UpdateUserInput', 'id: String, name: String, metadata: JSON'],
  [
    'CreateFeatureInput',
    `id: String, name: String, type: FeatureType, ${LABELS}, thresholds: List, costs: List`,
  ],
  ['UpdateFeatureInput', `name: String, ${LABELS}, thresholds: List, costs: List`],
  ['CreatePackageInput', 'id: String, name: String, isAddon: Boolean, metadata: JSON, features: List'],
  [
    'Entitlement',
    'limit: Whole, resetPeriod: ResetPeriod, overageEnabled: Boolean, overageCap: Whole, caps: List',
  ],
  ['UpdatePackageInput', 'metadata: JSON'],
  [
    'CreateUsageEventInput',
    'userId: String, featureId: String, delta: Whole, action: UsageAction, idempotencyKey: String, entities: List, revertOf: String',
  ],
]

const ENUMS: [type: string, values: string[]][] = [
  ['FeatureType', ['BINARY', 'CONSUMABLE']],
  ['PackageStatus', ['DRAFT', 'PUBLISHED']],
  ['SubscriptionStatus', ['ACTIVE', 'CANCELLED']],
  ['ResetPeriod', ['DAY', 'HOUR', 'MONTH', 'NEVER', 'WEEK', 'YEAR']],
  ['UsageAction', ['ADD', 'SET']],
]

const slug = (type: string) => type.replace(/(?<!^)[A-Z]/g, (letter) => `-${letter}`).toLowerCase()

const objects = OBJECTS.map(([letter, type, fields]) =>
  section('spec §2 resources and results').withKey(
    `S2.${letter}.${slug(type)}-fields`,
    `${type} has the fields that the spec lists, each of its type.`,
    async ({ admin }) => {
      const found = (await typeNamed(admin, type)).fields ?? []
      for (const [name, expected] of Object.entries(fieldsOf(fields))) {
        const field = found.find((f) => f.name === name)
        assert.ok(field, `${type} has no ${name}`)
        sameType(`${type}.${name}`, loosely(field.type), expected)
      }
    },
  ),
)

const inputs = INPUTS.map(([type, text]) =>
  inputObjects.withKey(
    `S2.I.${slug(type)}-fields`,
    `${type} takes the fields that the spec lists and no others.`,
    async ({ admin }) => {
      const fields = fieldsOf(text)
      const found = (await typeNamed(admin, type)).inputFields ?? []
      assert.deepEqual(found.map((f) => f.name).sort(), Object.keys(fields).sort())
      for (const { name, type: fieldType } of found) {
        sameType(`${type}.${name}`, loosely(fieldType), fields[name] ?? '')
      }
    },
  ),
)

const enums = ENUMS.map(([type, values]) =>
  section('gap: enum values').withKey(
    `G.TYPES.${slug(type)}-values`,
    `${type} is one of ${values.join(', ')}.`,
    async ({ admin }) => {
      const found = (await typeNamed(admin, type)).enumValues ?? []
      assert.deepEqual(found.map((v) => v.name).sort(), values)
    },
  ),
)

const nested: Audit[] = [
  section('spec §2 result objects').withKey(
    'S2.R.usage-period-fields',
    'A usage period has periodStart, periodEnd and consumption, the current one and the past ones alike.',
    async ({ admin }) => {
      const usage = (await typeNamed(admin, 'ShowUsageData')).fields ?? []
      const [current, past] = ['current', 'past'].map((name) => usage.find((f) => f.name === name)?.type)
      assert.ok(current && past)
      assert.equal(loosely(past), `[${loosely(current)}]`)
      const fields = (await typeNamed(admin, loosely(current))).fields ?? []
      const types = Object.fromEntries(fields.map((f) => [f.name, loosely(f.type)]))
      assert.deepEqual(types, { periodStart: 'String', periodEnd: 'String', consumption: 'Consumption' })
    },
  ),
  inputObjects.withKey(
    'S2.I.package-entry-fields',
    'An entry of CreatePackageInput.features has an id and an entitlement.',
    async ({ admin }) => {
      const features = (await typeNamed(admin, 'CreatePackageInput')).inputFields?.find(
        (f) => f.name === 'features',
      )
      assert.ok(features)
      const entry = await typeNamed(admin, loosely(features.type).replace(/[[\]]/g, ''))
      const types = Object.fromEntries(entry.inputFields?.map((f) => [f.name, loosely(f.type)]) ?? [])
      assert.deepEqual(types, { id: 'String', entitlement: 'Entitlement' })
    },
  ),
]

export const resources: Audit[] = [...objects, ...inputs, ...enums, ...nested]

function sameType(what: string, actual: string, expected: string | RegExp): void {
  const same = typeof expected === 'string' ? actual === expected : expected.test(actual)
  assert.ok(same, `${what} is ${actual}, not ${expected}`)
}
