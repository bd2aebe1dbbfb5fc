import type { Client, Data, Variables } from './client.ts'
import { rowsOf } from './database.ts'

// What tests of credits, caps and reservations share.

/** Counters and credits that differ from their ledger, of an app or of all. */
export const unbalanced = (databaseUrl: string, appId: string | null = null) =>
  rowsOf(
    { connectionString: databaseUrl },
    `select reset_period from (
       select app_id, user_uid, feature_id, reset_period, period_start, used as amount from usage_counter
       union all select app_id, user_uid, feature_id, 'CREDIT:' || id, 'epoch', used from credit
       union all select app_id, user_uid, feature_id, reset_period, period_start, -delta from usage_ledger) both_sides
     where $1::text is null or app_id = $1
     group by app_id, user_uid, feature_id, reset_period, period_start having sum(amount) <> 0`,
    [appId],
  )

/** Calls about the feature `call` of ann, who works with entities. */
export function callsOfAnn(app: () => { admin: Client }) {
  const of = { userId: 'ann', featureId: 'call' }
  return {
    check: async (delta: number, entities: string[] = []): Promise<Data> =>
      app().admin.call(
        'canUseFeature { access reason reasonCode deniedBy consumption { used remaining overageCap } }',
        { ...of, delta, entities },
      ),
    record: async (delta: number, entities: string[] = [], more: Variables = {}): Promise<Data> =>
      app().admin.call('recordUsage { recorded reason }', { input: { ...of, delta, entities, ...more } }),
    mutate: async (operation: string): Promise<Data> =>
      Object.values(await app().admin.data(`mutation { ${operation} }`))[0],
  }
}
