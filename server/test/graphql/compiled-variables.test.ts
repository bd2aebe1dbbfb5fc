import { beforeAll, describe, expect, it } from 'vitest'
import { adminSchema } from '../../src/graphql/admin/schema.ts'
import type { Variables } from '../harness/client.ts'
import { expectAlike, fourTimes, isCompiled, written } from '../harness/differential.ts'
import { furnish } from '../harness/furnished.ts'
import { startTestServer } from '../harness/server.ts'
import { shared } from '../harness/shared.ts'

const admin = adminSchema()

const server = shared(startTestServer)
beforeAll(async () => {
  await furnish(server)
})

const CHECK =
  'query ($userId: String!, $featureId: String!, $delta: Int) { canUseFeature(userId: $userId, featureId: $featureId, delta: $delta) { access reason consumption { used } } }'
const RECORD =
  'mutation ($input: CreateUsageEventInput!) { recordUsage(input: $input) { recorded reason consumption { used } } }'

/** Variables that do not fit, and some that just do. */
const VARIABLES: { what: string; query: string; variables: Variables }[] = [
  ...[null, '1', 1.5, 2 ** 31, -1, true, [1], [], {}].map((delta) => ({
    what: `delta ${JSON.stringify(delta)}`,
    query: CHECK,
    variables: { userId: 'ann', featureId: 'calls', delta },
  })),
  ...[undefined, null, 7, ['ann'], { id: 'ann' }, '', 'a\u0000b', 'x'.repeat(300)].map((userId) => ({
    what: `userId ${JSON.stringify(userId)?.slice(0, 40)}`,
    query: CHECK,
    variables: { featureId: 'calls', ...(userId !== undefined && { userId }) },
  })),
  ...[undefined, null, 'calls', [], ['calls'], [null], [['calls']], ['calls', 7], {}].map((featureIds) => ({
    what: `featureIds ${JSON.stringify(featureIds)}`,
    query:
      'query ($userId: String!, $featureIds: [String!]!) { canUseFeatures(userId: $userId, featureIds: $featureIds) { featureId access } }',
    variables: { userId: 'ann', ...(featureIds !== undefined && { featureIds }) },
  })),
  ...[
    undefined,
    null,
    'text',
    7,
    [],
    ['x'],
    {},
    { userId: 'ann' },
    ...[null, '3', 1.5, 2 ** 53, -(2 ** 53), 2 ** 53 - 1].map((delta) => ({
      userId: 'ann',
      featureId: 'export',
      delta,
    })),
    ...[null, 'set', 7, 'ADD'].map((action) => ({ userId: 'ann', featureId: 'export', delta: 1, action })),
    { userId: 'ann', featureId: 'export', delta: 1, more: true },
    JSON.parse('{"userId":"ann","featureId":"export","delta":1,"__proto__":{"action":"SET"}}'),
    { userId: 'ann', featureId: 'export', delta: 1, idempotencyKey: '' },
  ].map((input) => ({
    what: `input ${JSON.stringify(input)}`,
    query: RECORD,
    variables: input === undefined ? {} : { input },
  })),
  ...[null, 'text', 7, [], { a: 1 }, JSON.parse('{"__proto__":{"a":1}}'), { a: 'x'.repeat(17_000) }].map(
    (metadata) => ({
      what: `metadata ${JSON.stringify(metadata).slice(0, 40)}`,
      query:
        'mutation ($id: String!, $input: UpdateUserInput!) { updateUser(id: $id, input: $input) { metadata } }',
      variables: { id: 'bob', input: { metadata } },
    }),
  ),
  ...[[], [{}], {}, null].map((input) => ({
    what: `a change ${JSON.stringify(input)}`,
    query: 'mutation ($id: String!, $input: UpdateUserInput!) { updateUser(id: $id, input: $input) { id } }',
    variables: { id: 'bob', input },
  })),
  ...['MONTH', 'month', null, 7].map((resetPeriod) => ({
    what: `resetPeriod ${resetPeriod}`,
    query: 'mutation ($input: CreatePackageInput!) { createPackage(input: $input) { id } }',
    variables: {
      input: { id: 'plan', name: 'Taken', features: [{ id: 'calls', entitlement: { resetPeriod } }] },
    },
  })),
]

describe('a document that keeps coming', () => {
  it.each(VARIABLES)('spec §4: is answered as before with $what', async ({ query, variables }) => {
    expect(isCompiled(admin, query)).toBe(true)
    await expectAlike(server.admin, query, () => variables)
  })

  it('gap: idempotency: repeats the first answer word for word', async () => {
    const variables = { input: { userId: 'ann', featureId: 'calls', delta: 1 } }
    const keyed = server.admin.with({ 'Idempotency-Key': 'compiled' })
    const answers = await fourTimes(keyed, RECORD, () => variables)
    expect(new Set(answers.map(written)).size).toBe(1)
    expect(answers[0]?.data?.recordUsage.recorded).toBe(true)
    const reused = await fourTimes(keyed, RECORD, () => ({ input: { ...variables.input, delta: 2 } }))
    expect(new Set(reused.map(written)).size).toBe(1)
    expect(reused[0]?.errors?.[0]?.extensions.code).toBe('IDEMPOTENCY_KEY_REUSED')
  })
})
