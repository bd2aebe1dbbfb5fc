import { newTestApp } from './catalogue.ts'
import type { Data } from './client.ts'
import type { TestServer } from './server.ts'

/** An app with a clock of its own and one user, `ann`. */
export type ClockedApp = Awaited<ReturnType<typeof clockedApp>>

export async function clockedApp(server: TestServer) {
  const app = await newTestApp(server, { testClock: true })
  const { admin, dashboard } = app
  await admin.data('mutation { createUser(input: { id: "ann" }) { id } }')

  return {
    ...app,
    /** Moves the clock; returns where it stands then. */
    async advance(to: string): Promise<string> {
      return (await dashboard.call('advanceClock { now }', { to })).now
    },

    /** Returns the ids of the subscriptions. */
    async subscribe(...packageIds: string[]): Promise<string[]> {
      const subscribe = await admin.call('subscribe { id }', { userId: 'ann', packageIds })
      return subscribe.map((subscription: Data) => subscription.id)
    },

    async cancel(subscription: string | undefined, when: 'now' | 'at period end'): Promise<Data> {
      return dashboard.call('cancelSubscription { status cancelAt cancelledAt }', {
        id: subscription,
        atPeriodEnd: when === 'at period end',
      })
    },

    async keep(subscription: string | undefined): Promise<Data> {
      return admin.call('keepSubscription { status cancelAt cancelledAt }', { id: subscription })
    },

    /** Subscriptions as `[package, status, cancelAt, cancelledAt]`, oldest first. */
    async subscriptions(): Promise<(string | null)[][]> {
      const subscriptions = await admin.call('subscriptions { package { id } status cancelAt cancelledAt }', {
        userId: 'ann',
      })
      return subscriptions.map((s: Data) => [s.package.id, s.status, s.cancelAt, s.cancelledAt])
    },

    async use(delta: number, featureId = 'call'): Promise<void> {
      const recordUsage = await admin.call('recordUsage { recorded reason }', {
        input: { userId: 'ann', featureId, delta },
      })
      if (!recordUsage.recorded) throw new Error(recordUsage.reason)
    },

    async reasonCode(featureId = 'call'): Promise<string> {
      return (await admin.call('canUseFeature { reasonCode }', { userId: 'ann', featureId })).reasonCode
    },

    /** The current and the past periods, each as `[start, end, used]`. */
    async showUsage(featureId = 'call'): Promise<{ current: unknown[] | null; past: unknown[][] }> {
      const showUsage = await admin.call(
        'showUsage { current { periodStart periodEnd consumption { used } } past { periodStart periodEnd consumption { used } } }',
        { userId: 'ann', featureId },
      )
      const row = (p: Data) => [p.periodStart, p.periodEnd, p.consumption.used]
      return { current: showUsage.current && row(showUsage.current), past: showUsage.past.map(row) }
    },
  }
}

export const midnight = (date: string): string => `${date}T00:00:00.000Z`
