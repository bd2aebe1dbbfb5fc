import { describe, expect, it } from 'vitest'
import { newTestApp, publishPackage } from '../harness/catalogue.ts'
import type { Data } from '../harness/client.ts'
import { rowsOf } from '../harness/database.ts'
import { startTestServer } from '../harness/server.ts'
import { shared } from '../harness/shared.ts'

const server = shared(startTestServer)

const newApp = () => newTestApp(server)

describe('gap: copying a catalogue', () => {
  const DIFF = `features { id change message } packages { id change message after }`
  const shown = ({ features, packages }: Data) =>
    Object.fromEntries([...features, ...packages].map(({ id, change }: Data) => [id, change]))

  it('copies the largest catalogue there may be', async () => {
    const [from, to] = [await newApp(), await newApp()]
    const made = [
      `insert into feature (app_id, id, name, type, metadata)
       select $1, 'f' || n, 'f' || n, 'CONSUMABLE', '{}' from generate_series(1, 5000) n`,
      `insert into package (app_id, id, name, is_addon, metadata, updated_at)
       select $1, 'p' || n, 'p' || n, false, '{}', now() from generate_series(1, 5000) n`,
      `insert into package_feature (app_id, package_id, position, feature_id, "limit", reset_period, overage_enabled)
       select $1, 'p' || n, 1, 'f' || n, n, 'MONTH', false from generate_series(1, 5000) n`,
    ]
    for (const sql of made) await rowsOf({ connectionString: server.databaseUrl }, sql, [from.id])
    await to.dashboard.call('copyCatalogue', { fromAppId: from.id })
    const packages = await to.admin.call('packages { id features { id limit } }', {
      status: 'DRAFT',
      first: 100,
    })
    expect(packages).toHaveLength(100)
    expect(packages[9]).toEqual({ id: 'p10', features: [{ id: 'f10', limit: '10' }] })
  })

  it('shows first what it would do, and does just that', async () => {
    const [from, to] = [await newApp(), await newApp()]
    await publishPackage(from, 'plan', { calls: { limit: 10 }, seats: { limit: 2 } })
    await publishPackage(from, 'same', { calls: { limit: 1 } })
    await publishPackage(from, 'fresh', { calls: { limit: 1 } }, true)
    await publishPackage(to, 'plan', { calls: { limit: 5 } })
    await publishPackage(to, 'same', { calls: { limit: 1 } })
    await from.admin.data(`mutation {
      feature: createFeature(input: { id: "renamed", name: "New name", type: CONSUMABLE }) { id }
      package: createPackage(input: { id: "draft", name: "New name", features: [{ id: "calls", entitlement: { limit: 7 } }] }) { id }
    }`)
    await to.admin.data(`mutation {
      feature: createFeature(input: { id: "renamed", name: "Old name", type: CONSUMABLE }) { id }
      package: createPackage(input: { id: "draft", name: "Old name", features: [{ id: "calls", entitlement: { limit: 6 } }] }) { id }
    }`)
    await from.admin.call('createFeature', { input: { id: 'odd', name: 'Odd', type: 'BINARY' } })
    await to.admin.call('createFeature', { input: { id: 'odd', name: 'Odd', type: 'CONSUMABLE' } })

    const variables = { appId: to.id, fromAppId: from.id }
    const { catalogueDiff } = await server.dashboard.data(
      `query ($appId: String!, $fromAppId: String!) { catalogueDiff(appId: $appId, fromAppId: $fromAppId) { ${DIFF} } }`,
      variables,
    )
    const expected = {
      calls: 'SAME',
      seats: 'ADD',
      odd: 'CONFLICT',
      plan: 'CHANGE',
      same: 'SAME',
      fresh: 'ADD',
      renamed: 'CHANGE',
      draft: 'CHANGE',
    }
    expect(shown(catalogueDiff)).toEqual(expected)
    const copy = `mutation ($appId: String!, $fromAppId: String!) { copyCatalogue(appId: $appId, fromAppId: $fromAppId) { ${DIFF} } }`
    const { copyCatalogue } = await server.dashboard.data(copy, variables)
    expect(copyCatalogue).toEqual(catalogueDiff)

    const packages = await server.dashboard.call(
      'packages { id status grants { id limit } draft { grants { id limit } } }',
      { appId: to.id },
    )
    const byId = Object.fromEntries(packages.map((p: Data) => [p.id, p]))
    expect(byId.plan).toMatchObject({
      status: 'PUBLISHED',
      grants: [{ id: 'calls', limit: '5' }],
      draft: {
        grants: [
          { id: 'calls', limit: '10' },
          { id: 'seats', limit: '2' },
        ],
      },
    })
    expect(byId.fresh).toMatchObject({ status: 'DRAFT', draft: null })
    expect(byId.same.draft).toBeNull()
    // What nobody has yet is changed at once.
    expect(byId.draft).toMatchObject({ status: 'DRAFT', draft: null, grants: [{ id: 'calls', limit: '7' }] })
    const renamed = await to.admin.data('{ feature(id: "renamed") { name } package(id: "draft") { name } }')
    expect(renamed).toEqual({ feature: { name: 'New name' }, package: { name: 'New name' } })
    const again = await server.dashboard.data(copy, variables)
    expect(shown(again.copyCatalogue)).toEqual({
      ...expected,
      seats: 'SAME',
      plan: 'SAME',
      fresh: 'SAME',
      renamed: 'SAME',
      draft: 'SAME',
    })
    const { message } = await server.dashboard.error(copy, { appId: to.id, fromAppId: to.id })
    expect(message).toBe('fromAppId must be a different app')
  })
})
