import { pino } from 'pino'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import type { PendingUsage } from '../../src/operations/call/hot-paths.ts'
import { FeatureCounts } from '../../src/operations/usage/feature-counts.ts'
import { recordBatch } from '../../src/operations/usage/record-batch.ts'
import { AppCache } from '../../src/store/apps/app-cache.ts'
import { placesIn } from '../../src/store/cells/cell-places.ts'
import { CellUsage } from '../../src/store/cells/cell-usage.ts'
import { Cells } from '../../src/store/cells/cells.ts'
import { openPool, type Pool } from '../../src/store/connection/database.ts'
import { unbalancedCounters } from '../../src/store/schema/tables.ts'
import { before, type SentStatement } from '../harness/before-statement.ts'
import { publishPackage } from '../harness/catalogue.ts'
import { openCellServers, pretendRemote } from '../harness/cells.ts'
import type { Answer } from '../harness/client.ts'
import { monotonic } from '../harness/clocks.ts'
import { directly, WAITING, withConnection } from '../harness/database.ts'
import { PATIENCE_MS } from '../harness/patience.ts'
import { shared } from '../harness/shared.ts'

// Invariant: of a lower quantity and of usage that do not fit together, only one is accepted, however they interleave.
// The plan grants 10 seats that never reset; the user has it twice. The lower quantity is 1, the usage 13 in all.

const CHANGE = `mutation ($userId: String!) {
  changeSubscription(userId: $userId, packageId: "pro", quantity: 1, when: NOW) { subscription { quantity } }
}`
const RECORD = `mutation ($userId: String!, $delta: SafeInt!, $key: String) {
  recordUsage(input: { userId: $userId, featureId: "seat", delta: $delta, idempotencyKey: $key }) { recorded }
}`
const LOOK = `query ($userId: String!) {
  canUseFeature(userId: $userId, featureId: "seat") { consumption { used budget } }
}`

/** Just before a change, or usage recorded in a transaction, is committed, it waits for whoever has this lock. */
const LOCK = 42
const WAIT_BEFORE_COMMIT = `
create function await_test() returns trigger language plpgsql as $$
begin
  perform pg_advisory_xact_lock_shared(${LOCK});
  return new;
end $$;
create trigger await_test before insert on audit_entry for each row execute function await_test();
create trigger await_test before update on idempotency for each row execute function await_test()`

type Layout = 'one cell' | 'several cells' | 'a cell on another server'

describe.each<{ layout: Layout }>([
  { layout: 'one cell' },
  { layout: 'several cells' },
  { layout: 'a cell on another server' },
])('gap: quantities under race, $layout', ({ layout }) => {
  const cells = shared(openCellServers)
  let known: Cells
  let pool: Pool
  let url: string
  beforeAll(async () => {
    await publishPackage(cells.app, 'pro', { seat: { limit: 10, resetPeriod: 'NEVER' } })
    if (layout !== 'one cell') await cells.spread(2)
    if (layout === 'a cell on another server') await pretendRemote(cells.pool)
    url = cells.servers[0].databaseUrl
    await cells.pool.query(WAIT_BEFORE_COMMIT)
    known = new Cells()
    pool = openPool(
      { connectionString: url },
      { max: 2, keyLookups: true, places: placesIn(known) },
      pino({ level: 'silent' }),
    )
    await known.read(pool)
  })
  afterAll(async () => {
    await pool?.end()
  })

  let made = 0
  /** A user with two of the plan, who uses some; in the second cell, if there is one. */
  async function subscriber(used: number): Promise<string> {
    for (;;) {
      const userId = `user-${made++}`
      await cells.app.admin.data(`mutation { createUser(input: { id: "${userId}" }) { id } }`)
      if (layout !== 'one cell' && (await cells.cellsOfUser(userId))[0] !== 'c1') continue
      await cells.app.admin.call('subscribe', { userId, packageIds: ['pro'], quantities: [2] })
      if (used > 0) await cells.app.admin.data(RECORD, { userId, delta: used, key: null })
      return userId
    }
  }

  const change = (userId: string) => cells.servers[1].admin.ask(CHANGE, { userId })
  const isChanged = ({ errors }: Answer) => {
    expect(errors ?? []).toEqual(
      errors ? [expect.objectContaining({ message: expect.stringContaining('13 are in use') })] : [],
    )
    return errors === undefined
  }

  /** Whichever of the two was accepted, the user has it, and it alone. */
  async function expectOne(userId: string, used: number, changed: boolean, recorded: boolean): Promise<void> {
    expect([changed, recorded].filter(Boolean)).toHaveLength(1)
    const { canUseFeature } = await cells.app.admin.data(LOOK, { userId })
    expect(canUseFeature.consumption).toEqual({ used: recorded ? 13 : used, budget: changed ? 10 : 20 })
    expect(await unbalancedCounters(cells.pool)).toBe(0)
  }

  const eachStart = it.each([
    { used: 8, counter: 'a counter' },
    { used: 0, counter: 'no counter yet' },
  ])

  eachStart('usage is decided before the change and written after it, $counter', async ({ used }) => {
    const userId = await subscriber(used)
    const client = await pool.connect()
    let changed: Answer | null = null
    const pending: PendingUsage = {
      caller: { appId: 'default', actor: { kind: 'service' }, deadline: null },
      event: { userId, featureId: 'seat', action: 'ADD', delta: 13 - used },
      key: null,
    }
    const [result] = await recordBatch(
      new CellUsage(known),
      new AppCache(monotonic),
      before(client, isWrite, async () => {
        changed = await change(userId)
      }),
      [pending],
      new FeatureCounts(),
    )
    client.release()
    if (!changed) throw new Error('nothing was written')
    const recorded = result && 'value' in result && result.value !== 'claimed' && result.value.recorded
    await expectOne(userId, used, isChanged(changed), recorded === true)
  })

  /** Starts the second once the first is about to be committed, and lets both go on once the second waits or is done. */
  async function held(
    first: () => Promise<Answer>,
    second: () => Promise<Answer>,
  ): Promise<[Answer, Answer]> {
    return withConnection({ connectionString: directly(url) }, async (holder) => {
      await holder.query(`select pg_advisory_lock(${LOCK})`)
      const one = first()
      await waiting(1)
      const other = second()
      await Promise.race([waiting(2), other])
      await holder.query(`select pg_advisory_unlock(${LOCK})`)
      return Promise.all([one, other])
    })
  }
  const waiting = (count: number) =>
    vi.waitUntil(async () => ((await cells.pool.query(WAITING)).rowCount ?? 0) >= count, PATIENCE_MS)

  /** On a busy machine a call may wait for the lock longer than it is allowed to: then another user takes the turn. */
  async function race(
    used: number,
    calls: (userId: string) => [() => Promise<Answer>, () => Promise<Answer>],
  ) {
    for (;;) {
      const userId = await subscriber(used)
      const answers = await held(...calls(userId))
      const late = answers.some(({ errors }) => errors?.[0]?.extensions.code === 'UNAVAILABLE')
      if (!late) return { userId, answers }
    }
  }

  const record = (userId: string, delta: number, keys: boolean) =>
    (keys ? cells.app.admin.with({ 'Idempotency-Key': userId }) : cells.app.admin).ask(RECORD, {
      userId,
      delta,
      key: keys ? userId : null,
    })

  eachStart('usage comes while the change is about to be committed, $counter', async ({ used }) => {
    const { userId, answers } = await race(used, (id) => [
      () => change(id),
      () => record(id, 13 - used, false),
    ])
    await expectOne(userId, used, isChanged(answers[0]), answers[1].data?.recordUsage.recorded)
  })

  eachStart('the change comes while usage is about to be committed, $counter', async ({ used }) => {
    // With two keys it is recorded in a transaction.
    const { userId, answers } = await race(used, (id) => [
      () => record(id, 13 - used, true),
      () => change(id),
    ])
    await expectOne(userId, used, isChanged(answers[1]), answers[0].data?.recordUsage.recorded)
  })
})

const isWrite = ({ name, text }: SentStatement): boolean =>
  name.startsWith('write-usage') || text.includes('.write_usage(')
