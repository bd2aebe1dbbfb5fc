import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { startTestServer } from '../../server/test/harness/server.ts'
import { shared } from '../../server/test/harness/shared.ts'
import { CALL, type SdkApp, sdkApp } from './support/app.ts'
import { FaultyProxy } from './support/faulty-proxy.ts'
import { recordingFetch } from './support/recording-fetch.ts'

const server = shared(startTestServer)
let app: SdkApp
let proxy: FaultyProxy
beforeEach(async () => {
  app = await sdkApp(server, 10)
  proxy = await FaultyProxy.before(server.url)
})
afterEach(() => proxy.close())

const ASK = { userId: 'ann', featureId: 'calls' }

describe('a check with entities and sources', () => {
  it('says who pays, what is held and what denied it; without `includeSources` nothing of that is asked for', async () => {
    const { fetch, requests } = recordingFetch()
    const tollgate = app.tollgate({ fetch })
    const { data: credit } = await tollgate.addCredit({ ...ASK, amount: 5 })
    await tollgate.setCap({ ...ASK, entity: 'agent:7', limit: 3, period: 'NEVER' })
    await tollgate.reserveUsage({ ...ASK, amount: 2, entities: ['agent:7'] })
    await tollgate.recordUsage({ ...CALL, entities: ['agent:7'] })
    const check = { ...ASK, entities: ['agent:7'], includeSources: true }
    const { data } = await tollgate.canUseFeature(check)
    expect(data).toMatchObject({
      access: false,
      deniedBy: 'CAP NEVER agent:7',
      sources: [
        { kind: 'PLAN', id: null, poolId: null, cost: 1, left: 7 },
        { kind: 'CREDIT', id: credit?.id, left: 5, expiresAt: null },
      ],
      consumption: {
        budget: 10,
        used: 1,
        overageEnabled: false,
        overageCap: null,
        reserved: 2,
        remaining: 0,
      },
    })
    const other = await tollgate.canUseFeature({ ...check, entities: ['agent:8'] })
    expect(other.data).toMatchObject({ access: true, deniedBy: null })

    const lean = await tollgate.canUseFeature({ ...ASK, entities: ['agent:7'] })
    expect(lean.data).toMatchObject({ access: false, reasonCode: 'LIMIT_EXCEEDED' })
    expect(Object.keys(lean.data ?? {})).not.toContain('sources')
    expect(JSON.stringify(requests.at(-1))).not.toMatch(/deniedBy|remaining/)
    const many = { ...ASK, entities: ['a:1', 'a:2', 'a:3', 'a:4', 'a:5'] }
    expect((await tollgate.canUseFeature(many)).error).toMatchObject({
      code: 'BAD_USER_INPUT',
      field: 'entities',
    })
  })

  it('is cached for the same entities only, and stands in for nothing else', async () => {
    const tollgate = app.tollgate({
      baseUrl: proxy.url,
      cache: { ttl: Number.POSITIVE_INFINITY },
      fallback: { default: 'last-known' },
      retry: () => false,
    })
    await app.tollgate().setCap({ ...ASK, entity: 'agent:7', limit: 0, period: 'DAY' })
    const answer = async (args: object) => {
      const { data } = await tollgate.canUseFeature({ ...ASK, ...args })
      return [data?.access, data?.source]
    }
    const entities = ['agent:7']
    expect(await answer({ entities })).toEqual([false, 'service'])
    expect(await answer({ entities })).toEqual([false, 'cache'])
    expect(await answer({ entities, includeSources: true })).toEqual([false, 'service'])
    expect(await answer({})).toEqual([true, 'service'])
    expect(await answer({ entities })).toEqual([false, 'service'])
    proxy.down()
    expect(await answer({ entities })).toEqual([false, 'cache'])
    // Of another entity this client knows only what the plan leaves.
    expect(await answer({ entities: ['agent:8'] })).toEqual([true, 'fallback'])
    expect(await answer({ delta: 11 })).toEqual([false, 'fallback'])
  })
})
