import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { publishPackage } from '../harness/catalogue.ts'
import type { Data } from '../harness/client.ts'
import { type ClockedApp, clockedApp, midnight } from '../harness/clocked-app.ts'
import { startTestServer } from '../harness/server.ts'
import { shared } from '../harness/shared.ts'

// Invariant: at no moment does a user have an add-on without a base plan, and none is lost while the plan goes on.

const server = shared(startTestServer)

const start = midnight('2091-01-31')
const trialEnd = midnight('2091-02-14')
const later = midnight('2091-02-20')

async function newApp(): Promise<ClockedApp> {
  const app = await clockedApp(server)
  await publishPackage(app, 'basic', { call: { limit: 10 } })
  await publishPackage(app, 'pro', { call: { limit: 50 } })
  await publishPackage(app, 'extra', { call: { limit: 5 } }, true)
  await publishPackage(app, 'more', { call: { limit: 2 } }, true)
  await app.advance(start)
  return app
}

/** The end of what is live, by package; what is over is left out. */
async function ends(app: ClockedApp): Promise<Record<string, string | null>> {
  const rows = (await app.subscriptions()) as [string, string, string | null, string | null][]
  return Object.fromEntries(
    rows.flatMap(([id, status, cancelAt]) => (status === 'ACTIVE' ? [[id, cancelAt]] : [])),
  )
}

const trial = (app: ClockedApp, packageId: string, until = trialEnd, next: string | null = null) =>
  app.admin.ask(
    `mutation ($packageId: String!, $until: String, $next: String) {
      startTrial(userId: "ann", packageId: $packageId, until: $until, then: $next, again: true) { id trialEndsAt cancelAt }
    }`,
    { packageId, until, next },
  )
const subscribe = (app: ClockedApp, packageId: string) =>
  app.admin.ask(`mutation { subscribe(userId: "ann", packageIds: ["${packageId}"]) { id } }`)
const idOf = async (app: ClockedApp, packageId: string): Promise<string> => {
  const subscriptions = await app.admin.call('subscriptions { id status package { id } }', { userId: 'ann' })
  const found = subscriptions.find((s: Data) => s.package.id === packageId && s.status === 'ACTIVE')
  return found?.id ?? 'none'
}
const change = (app: ClockedApp, packageId: string, when: 'NOW' | 'PERIOD_END') =>
  app.admin.ask(
    `mutation { changeSubscription(userId: "ann", packageId: "${packageId}", when: ${when}) { at } }`,
  )
const cancel = async (app: ClockedApp, packageId: string, atPeriodEnd: boolean) =>
  app.admin.ask(
    `mutation { cancelSubscription(id: "${await idOf(app, packageId)}", atPeriodEnd: ${atPeriodEnd}) { id } }`,
  )
const keep = async (app: ClockedApp, packageId: string) =>
  app.admin.ask(`mutation { keepSubscription(id: "${await idOf(app, packageId)}") { id } }`)
const takeBack = (app: ClockedApp) =>
  app.admin.ask('mutation { cancelScheduledChange(userId: "ann") { id } }')
const extend = async (app: ClockedApp, packageId: string, until: string) =>
  app.admin.ask(
    `mutation { extendTrial(id: "${await idOf(app, packageId)}", until: "${until}") { trialEndsAt } }`,
  )

describe('gap: lifecycle: add-ons and the end of their base plan', () => {
  it('a trial that nothing follows takes them along, also those that were there before', async () => {
    const app = await newApp()
    await app.subscribe('basic', 'extra')
    await trial(app, 'pro')
    expect(await ends(app)).toEqual({ pro: trialEnd, extra: trialEnd })
    await app.advance(trialEnd)
    expect(await ends(app)).toEqual({})
  })

  it('one that a plan follows does not, until that plan is taken back', async () => {
    const app = await newApp()
    await trial(app, 'pro', trialEnd, 'basic')
    await app.subscribe('extra')
    expect(await ends(app)).toEqual({ pro: trialEnd, extra: null })
    await takeBack(app)
    expect(await ends(app)).toEqual({ pro: trialEnd, extra: trialEnd })
  })

  it('last longer when the trial is extended', async () => {
    const app = await newApp()
    await trial(app, 'pro')
    await app.subscribe('extra')
    await extend(app, 'pro', later)
    expect(await ends(app)).toEqual({ pro: later, extra: later })
  })

  it.for([
    'NOW',
    'PERIOD_END',
  ] as const)('go on when a cancelled plan is changed after all: %s', async (when) => {
    const app = await newApp()
    await app.subscribe('basic', 'extra')
    await cancel(app, 'basic', true)
    const end = midnight('2091-02-28')
    expect(await ends(app)).toEqual({ basic: end, extra: end })
    await change(app, 'pro', when)
    expect(await ends(app)).toEqual(when === 'NOW' ? { pro: null, extra: null } : { basic: end, extra: null })
  })

  it('one that was cancelled by itself stays so', async () => {
    const app = await newApp()
    await app.subscribe('basic', 'extra', 'more')
    await cancel(app, 'extra', true)
    await change(app, 'pro', 'NOW')
    expect(await ends(app)).toEqual({ pro: null, extra: midnight('2091-02-28'), more: null })
  })

  it('a trial of one ends with the plan at the latest, and nothing follows it then', async () => {
    const app = await newApp()
    await app.subscribe('basic')
    await cancel(app, 'basic', true)
    const end = midnight('2091-02-28')
    const { data } = await trial(app, 'extra', midnight('2091-03-20'), 'more')
    expect(data?.startTrial).toMatchObject({ trialEndsAt: end, cancelAt: end })
    await extend(app, 'extra', midnight('2091-03-25'))
    expect(await ends(app)).toEqual({ basic: end, extra: end })
    await app.advance(end)
    expect(await ends(app)).toEqual({})
  })

  it('what follows the trial of one ends with the plan too', async () => {
    const app = await newApp()
    await app.subscribe('basic')
    await cancel(app, 'basic', true)
    await trial(app, 'extra', trialEnd, 'more')
    await app.advance(trialEnd)
    expect(await ends(app)).toEqual({ basic: midnight('2091-02-28'), more: midnight('2091-02-28') })
  })

  it('a trial of one still ends by itself when the plan is kept', async () => {
    const app = await newApp()
    await app.subscribe('basic')
    await cancel(app, 'basic', true)
    const end = midnight('2091-02-28')
    await trial(app, 'extra', midnight('2091-03-20'))
    await keep(app, 'basic')
    expect(await ends(app)).toEqual({ basic: null, extra: end })
    await app.advance(end)
    expect(await ends(app)).toEqual({ basic: null })
  })

  it('what follows the trial of one goes on when the plan is kept', async () => {
    const app = await newApp()
    await app.subscribe('basic')
    await cancel(app, 'basic', true)
    await trial(app, 'extra', trialEnd, 'more')
    await keep(app, 'basic')
    await app.advance(trialEnd)
    expect(await ends(app)).toEqual({ basic: null, more: null })
  })

  it('one that was cancelled by itself stays so when a planned change is taken back by keeping the plan', async () => {
    const app = await newApp()
    await app.subscribe('basic', 'extra', 'more')
    await cancel(app, 'extra', true)
    await change(app, 'pro', 'PERIOD_END')
    await keep(app, 'basic')
    expect(await ends(app)).toEqual({ basic: null, extra: midnight('2091-02-28'), more: null })
  })

  it('end with a trial that is cancelled, even if its period would be longer', async () => {
    const app = await newApp()
    await trial(app, 'pro', trialEnd, 'basic')
    await app.subscribe('extra')
    await cancel(app, 'pro', true)
    expect(await ends(app)).toEqual({ pro: trialEnd, extra: trialEnd })
  })

  it('what follows the trial of one still does when the plan is cancelled later, and goes on if that is kept', async () => {
    const app = await newApp()
    await app.subscribe('basic')
    await trial(app, 'extra', trialEnd, 'more')
    const end = midnight('2091-02-28')
    await cancel(app, 'basic', true)
    await app.advance(trialEnd)
    expect(await ends(app)).toEqual({ basic: end, more: end })
    await keep(app, 'basic')
    expect(await ends(app)).toEqual({ basic: null, more: null })
  })

  it('the trial of one that lasts longer ends with the cancelled plan, and has its own end again if that is kept', async () => {
    const app = await newApp()
    await app.subscribe('basic')
    const [end, after] = [midnight('2091-02-28'), midnight('2091-03-20')]
    await trial(app, 'extra', after, 'more')
    await cancel(app, 'basic', true)
    expect(await ends(app)).toEqual({ basic: end, extra: end })
    await keep(app, 'basic')
    expect(await ends(app)).toEqual({ basic: null, extra: after })
    await app.advance(after)
    expect(await ends(app)).toEqual({ basic: null })
  })

  it.for([
    { tried: 'extra', next: 'more', field: 'then' },
    { tried: 'extra', next: 'most', field: 'then' },
    { tried: 'most', next: null, field: 'packageId' },
  ])('no user has one twice: a trial of $tried, then $next, is refused', async ({ tried, next, field }) => {
    const app = await newApp()
    for (const id of ['most', 'other']) await publishPackage(app, id, { call: { limit: 1 } }, true)
    await app.subscribe('basic', 'more')
    await trial(app, 'other', trialEnd, 'most')
    const { errors } = await trial(app, tried, trialEnd, next)
    expect(errors?.[0]?.extensions).toMatchObject({ code: 'BAD_USER_INPUT', field })
  })

  it('no user has one twice: taken earlier, it does not follow the trial as well', async () => {
    const app = await newApp()
    await app.subscribe('basic')
    await trial(app, 'extra', trialEnd, 'more')
    await app.subscribe('more')
    await app.advance(trialEnd)
    const rows = await app.subscriptions()
    expect(rows.map(([id, status]) => [id, status])).toEqual([
      ['basic', 'ACTIVE'],
      ['extra', 'CANCELLED'],
      ['more', 'ACTIVE'],
    ])
    expect((await change(app, 'pro', 'NOW')).errors).toBeUndefined()
  })

  it('one can be kept while another plan is to follow, and not while none is', async () => {
    const app = await newApp()
    await app.subscribe('basic', 'extra')
    await cancel(app, 'extra', true)
    await change(app, 'pro', 'PERIOD_END')
    expect((await keep(app, 'extra')).errors).toBeUndefined()
    expect(await ends(app)).toMatchObject({ extra: null })
    await cancel(app, 'basic', true)
    expect((await keep(app, 'extra')).errors?.[0]?.message).toMatch(
      /^The base plan of this add-on is scheduled to end/,
    )
  })

  it('property: at no moment is there an add-on without a base plan, or anything twice', async () => {
    const app = await newApp()
    let now = Date.parse(start)
    const after = (days: number) => new Date(now + days * 86_400_000).toISOString()
    const wait = async (days: number) => {
      const to = after(days)
      now = Date.parse(to)
      await app.advance(to)
    }
    const base = fc.constantFrom('basic', 'pro')
    const addon = fc.constantFrom('extra', 'more')
    const any = fc.oneof(base, addon)
    const days = fc.integer({ min: 1, max: 40 })
    const step: fc.Arbitrary<() => Promise<unknown>> = fc.oneof(
      any.map((id) => () => subscribe(app, id)),
      fc.tuple(base, days, fc.option(base)).map(
        ([id, d, next]) =>
          () =>
            trial(app, id, after(d), next),
      ),
      fc.tuple(addon, days, fc.option(addon)).map(
        ([id, d, next]) =>
          () =>
            trial(app, id, after(d), next),
      ),
      fc.tuple(any, days).map(
        ([id, d]) =>
          () =>
            extend(app, id, after(d)),
      ),
      fc.tuple(base, fc.constantFrom('NOW' as const, 'PERIOD_END' as const)).map(
        ([id, when]) =>
          () =>
            change(app, id, when),
      ),
      fc.tuple(any, fc.boolean()).map(
        ([id, atPeriodEnd]) =>
          () =>
            cancel(app, id, atPeriodEnd),
      ),
      any.map((id) => () => keep(app, id)),
      fc.constant(() => takeBack(app)),
      days.map((d) => () => wait(d)),
    )
    const isBase = (id: string) => id === 'basic' || id === 'pro'
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 6, maxLength: 14 }), async (steps) => {
        await app.admin.ask('mutation { deleteUser(id: "ann") { id } }')
        await app.admin.data('mutation { createUser(input: { id: "ann" }) { id } }')
        await subscribe(app, 'basic')
        await subscribe(app, 'extra')
        for (const take of steps) {
          // A step may be refused, but does not fail.
          const { errors } = ((await take()) ?? {}) as { errors?: Data[] }
          expect(errors?.map((e) => e.extensions.code) ?? []).not.toContain('INTERNAL_SERVER_ERROR')
          const rows = await app.subscriptions()
          const live = rows.filter(([, status]) => status === 'ACTIVE').map(([id]) => id ?? '')
          expect(new Set(live).size, live.join(', ')).toBe(live.length)
          expect(live.every(isBase) || live.some(isBase), live.join(', ')).toBe(true)
        }
      }),
      { numRuns: 12, endOnFailure: true },
    )
  })
})
