import { beforeAll, describe, expect, it } from 'vitest'
import { keepPayments } from '../../src/store/billing/payments.ts'
import { newestSubscribers } from '../../src/store/subscriptions/subscribers.ts'
import {
  ALL_SUBSCRIPTIONS,
  countSubscriptions,
  filteredSubscriptions,
} from '../../src/store/subscriptions/subscription-list.ts'
import { usersWithOverride } from '../../src/store/users/overrides.ts'
import { countUsers, usersWithoutPlan } from '../../src/store/users/user-list.ts'
import { shared } from '../harness/shared.ts'
import { openStoreInCell } from '../harness/store.ts'

// A page looks at so many rows and no more, and the next one goes on right there: nobody is passed over.

const NOW = 1_800_000_000_000
const LAST = Number.MAX_SAFE_INTEGER

const store = shared(openStoreInCell)
beforeAll(async () => {
  const { pool } = store
  await pool.query(`insert into app (id, name) values ('shop', 'Shop')`)
  await pool.query(`insert into package (app_id, id, name, is_addon, metadata, updated_at)
    values ('shop', 'plan', 'Plan', false, '{}', now())`)
  // Every other user has an override of calls, the others one of something else.
  await pool.query(`insert into users (app_id, id, metadata, overrides)
    select 'shop', 'u' || i, '{}', json_build_array(json_build_object('featureId', case when i % 2 = 1 then 'calls' else 'other' end))
    from generate_series(1, 6) i order by i`)
  // Those of the second and the fifth have ended.
  await pool.query(`insert into subscription (app_id, id, user_uid, package_id, is_addon, started_at, anchor, cancelled_at)
    select app_id, 's-' || id, uid, 'plan', false, '2020-01-01Z', '2020-01-01Z',
      case when id in ('u2', 'u5') then '2021-01-01Z'::timestamptz end
    from users order by uid`)
})

/** What all pages have, and how many there are. */
async function walk<Row>(
  from: number,
  page: (from: number) => Promise<{ rows: Row[]; scannedTo: number | null }>,
): Promise<{ rows: Row[]; pages: number }> {
  const rows: Row[] = []
  for (let at: number | null = from, pages = 1; ; pages++) {
    const { rows: some, scannedTo }: { rows: Row[]; scannedTo: number | null } = await page(at)
    rows.push(...some)
    if (scannedTo === null) return { rows, pages }
    at = scannedTo
  }
}

describe('gap: lists: pages that look at a few rows each', () => {
  it('find every override', async () => {
    const { rows, pages } = await walk(LAST, (before) =>
      usersWithOverride(store.pool, 'shop', 'calls', before, 9, 2),
    )
    expect([rows.map(({ id }) => id), pages]).toEqual([['u5', 'u3', 'u1'], 3])
  })

  it('find everybody without a plan', async () => {
    const { rows, pages } = await walk(LAST, (before) =>
      usersWithoutPlan(store.pool, 'shop', before, 9, 2, NOW),
    )
    expect([rows.map(({ id }) => id), pages]).toEqual([['u5', 'u2'], 3])
  })

  it.each([
    [false, ['s-u5', 's-u2']],
    [true, ['s-u2', 's-u5']],
  ])('find every subscription that has ended, oldest first: %s', async (oldestFirst, ids) => {
    const filter = { ...ALL_SUBSCRIPTIONS, state: 'CANCELLED' as const }
    const { rows, pages } = await walk(oldestFirst ? 0 : LAST, (after) =>
      filteredSubscriptions(store.pool, 'shop', filter, { after, oldestFirst, most: 2 }, 9, NOW),
    )
    expect([rows.map(({ id }) => id), pages]).toEqual([ids, 3])
  })

  it('say whether there are more than were counted', async () => {
    const { pool } = store
    for (const [most, more] of [
      [5, true],
      [6, false],
    ] as const) {
      expect(await countUsers(pool, 'shop', most)).toEqual({ count: most, more })
      expect((await countSubscriptions(pool, 'shop', ALL_SUBSCRIPTIONS, most, NOW)).more).toBe(more)
      expect((await newestSubscribers(pool, 'shop', 'plan', NOW, most)).more).toBe(more)
    }
  })
})

describe('gap: revenue: payments that a provider no longer has', () => {
  it('are forgotten if they failed since it has no others; those before are kept', async () => {
    const { pool } = store
    const of = { appId: 'shop', provider: 'stripe', ref: 'sub_1' }
    await pool.query(`insert into provider_subscription (app_id, provider, ref, user_uid, status, made_at, live)
      select app_id, 'stripe', 'sub_1', uid, 'active', now(), true from users where id = 'u1'`)
    const charge = (ref: string, state: 'PAID' | 'FAILED', at: number) => ({
      ref,
      state,
      amount: 900,
      currency: 'usd',
      at,
    })
    const all = [charge('a', 'FAILED', 1_000), charge('b', 'PAID', 2_000), charge('c', 'FAILED', 3_000)]
    await keepPayments(pool, of, all, null)
    const kept = async () => {
      const { rows } = await pool.query(`select ref from payment where app_id = 'shop' order by ref`)
      return rows.map(({ ref }) => ref)
    }
    await keepPayments(pool, of, [charge('d', 'PAID', 2_000), charge('e', 'PAID', 4_000)], 2_000)
    expect(await kept()).toEqual(['a', 'b', 'd', 'e'])
    await keepPayments(pool, of, [], null)
    expect(await kept()).toEqual(['a', 'b', 'd', 'e'])
    await keepPayments(pool, of, [], 0)
    expect(await kept()).toEqual(['b', 'd', 'e'])
  })
})
