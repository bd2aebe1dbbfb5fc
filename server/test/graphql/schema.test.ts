import { readFileSync } from 'node:fs'
import { buildSchema, findBreakingChanges } from 'graphql'
import { describe, expect, it } from 'vitest'
import { DASHBOARD_QUERIES, QUERIES } from '../../src/operations/registry/registry.ts'
import { printed, SCHEMAS } from '../harness/schemas.ts'

describe('spec §2 and §4: the schemas', () => {
  it.for(SCHEMAS)('$name: the file says what the service serves', ({ file, schema }) => {
    const message = 'The schema has changed: `npm run schema` writes it, and the change is reviewed there'
    expect(printed(schema), message).toBe(readFileSync(file, 'utf8'))
  })
})

describe('spec §9: versioning', () => {
  const [admin] = SCHEMAS

  it('changes of the Admin API are additions', () => {
    const agreed = buildSchema(readFileSync(admin?.file ?? '', 'utf8'))
    // Built from its text, as the other side is: what code adds to a type is no part of what callers see.
    const served = buildSchema(admin ? printed(admin.schema) : '')
    const broken = findBreakingChanges(agreed, served).map(({ description }) => description)
    expect(broken, 'This breaks operations that callers have written: add, and leave what is there').toEqual(
      [],
    )
  })

  it('a field taken away would be found', () => {
    const text = readFileSync(admin?.file ?? '', 'utf8')
    const without = buildSchema(text.replace(/^ {2}access: Boolean!\n/m, ''))
    const broken = findBreakingChanges(buildSchema(text), without)
    expect(broken.map(({ description }) => description)).toEqual(['CanUseFeatureData.access was removed.'])
  })
})

describe('gap: replica: where the dashboard reads', () => {
  const ON_THE_PRIMARY = [
    // They write first: what this process has counted.
    ...['activity', 'featureActivity', 'featureDenials', 'featureTotals', 'latestEvents', 'nearLimits'],
    // What a provider answers, or a check would.
    ...[
      'changePreview',
      'providerPrices',
      'explain',
      'grantedFeatures',
      'showUsage',
      'usageSeries',
      'overrides',
    ],
    // A member looks at what has just been sent.
    ...['webhookDeliveries', 'webhookEndpoints'],
    // As a check sees them.
    ...['credits', 'creditPage', 'creditFigures', 'reservations', 'userCaps', 'capPreview', 'autoRecharges'],
    ...['autoRechargePreview', 'hasSavedCard'],
    // One of them, or few, or from memory.
    ...['eventSettings', 'eventTypes'],
    ...['app', 'feature', 'migration', 'notice', 'package', 'subscription', 'user', 'userImport'],
    ...['bulkChange', 'bulkChanges', 'bulkChangeRows'],
    ...['apiKeys', 'apps', 'billingSettings', 'checklist', 'features', 'packages', 'prices', 'tokenKeys'],
    ...['billingTemplate', 'billingTemplates', 'providerAccounts', 'sandboxPayments'],
    ...['refundPreview', 'subscriptionHistory', 'subscriptionPayments', 'userPayments'],
    ...['auditOperations', 'currencies', 'permissions'],
    ...['hasOwner', 'invitation', 'invitations', 'me', 'members', 'passwordReset', 'sendsEmail', 'sessions'],
  ]

  it('every query is either among the lists and figures, or stays on the primary', () => {
    const primary = DASHBOARD_QUERIES.filter((name) => !QUERIES[name].replica)
    expect(primary.sort()).toEqual(ON_THE_PRIMARY.sort())
  })
})
