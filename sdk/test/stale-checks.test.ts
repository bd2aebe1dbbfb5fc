import { describe, expect, it } from 'vitest'
import { type Result, Tollgate } from '../src/node.ts'
import { CALL } from './support/call.ts'

// Invariant: after a change that may have taken effect, whatever its error, no answer from before it is used.

const ASK = { userId: 'ann', featureId: 'calls' }
const ANSWER = { featureId: 'calls', access: true, reason: '', reasonCode: 'GRANTED', consumption: null }

const LIFECYCLE: [what: string, change: (tollgate: Tollgate) => Promise<Result<unknown>>][] = [
  ['createUser', (t) => t.createUser({ id: 'ann' })],
  ['updateUser', (t) => t.updateUser({ id: 'eve', input: { id: 'ann' } })],
  ['deleteUser', (t) => t.deleteUser({ id: 'ann' })],
  ['subscribe', (t) => t.subscribe({ userId: 'ann', packageIds: ['plan'] })],
  ['cancelSubscription', (t) => t.cancelSubscription({ id: 's' })],
  ['keepSubscription', (t) => t.keepSubscription({ id: 's' })],
  ['changeSubscription', (t) => t.changeSubscription({ userId: 'ann', packageId: 'plan' })],
  ['cancelScheduledChange', (t) => t.cancelScheduledChange({ userId: 'ann' })],
  ['startTrial', (t) => t.startTrial({ userId: 'ann', packageId: 'plan', days: 1 })],
  ['extendTrial', (t) => t.extendTrial({ id: 's', until: '2100-01-01' })],
  ['migrateSubscriptions', (t) => t.migrateSubscriptions({ packageId: 'p', fromVersion: 1, toVersion: 2 })],
  ['undoMigration', (t) => t.undoMigration({ id: 'm' })],
  ['setOverride', (t) => t.setOverride({ ...ASK, mode: 'GRANT' })],
  ['removeOverride', (t) => t.removeOverride(ASK)],
  ['recordUsage', (t) => t.recordUsage(CALL)],
]
const refused = (code: string) => Response.json({ errors: [{ message: code, extensions: { code } }] })
/** Who answers a check that was cached, after a change that ends like this. */
async function sourceAfter(
  change: (tollgate: Tollgate) => Promise<Result<unknown>>,
  end: () => Response | Promise<Response>,
): Promise<string | undefined> {
  const tollgate = new Tollgate({
    apiKey: 'k',
    cache: { ttl: Number.POSITIVE_INFINITY },
    fetch: async (_, init) =>
      String(init?.body).includes('query canUseFeature')
        ? Response.json({ data: { canUseFeature: ANSWER } })
        : end(),
    retry: () => false,
  })
  await tollgate.canUseFeature(ASK)
  expect((await tollgate.canUseFeature(ASK)).data?.source).toBe('cache')
  expect((await change(tollgate)).error).not.toBeNull()
  return (await tollgate.canUseFeature(ASK)).data?.source
}

describe('a cached check', () => {
  it.each(LIFECYCLE)('is not used after a %s that may have taken effect', async (_, change) => {
    expect(await sourceAfter(change, () => Promise.reject(new TypeError('fetch failed')))).toBe('service')
    expect(await sourceAfter(change, () => refused('INTERNAL_SERVER_ERROR'))).toBe('service')
    expect(await sourceAfter(change, () => new Response('', { status: 502 }))).toBe('service')
  })

  it('is not used after a change that was aborted on its way', async () => {
    const giveUp = new AbortController()
    const cancel = (t: Tollgate) => t.cancelSubscription({ id: 's' }, { signal: giveUp.signal })
    const end = () => {
      giveUp.abort()
      return new Promise<never>(() => {})
    }
    expect(await sourceAfter(cancel, end)).toBe('service')
  })

  it('is used after a change that certainly had no effect', async () => {
    const cancel = (t: Tollgate) => t.cancelSubscription({ id: 's' })
    expect(await sourceAfter(cancel, () => refused('BAD_USER_INPUT'))).toBe('cache')
    expect(await sourceAfter(cancel, () => refused('SUBSCRIPTION_NOT_FOUND'))).toBe('cache')
    expect(await sourceAfter(cancel, () => refused('RATE_LIMITED'))).toBe('cache')
    const cause = Object.assign(new Error('nobody listens'), { code: 'ECONNREFUSED' })
    expect(await sourceAfter(cancel, () => Promise.reject(new TypeError('fetch failed', { cause })))).toBe(
      'cache',
    )
  })
})
