import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { moveBuckets } from '../../src/operations/upkeep/cells.ts'
import { keepLedger } from '../../src/operations/upkeep/keep-ledger.ts'
import { retireTogether } from '../../src/operations/upkeep/retire-partition.ts'
import { bucketOf } from '../../src/store/cells/cells.ts'
import { readBuckets } from '../../src/store/cells/move-users.ts'
import type { Pool } from '../../src/store/connection/database.ts'
import { ledgersDiffer, unbalancedCounters } from '../../src/store/schema/tables.ts'
import { createUsers } from '../harness/catalogue.ts'
import { MOVING, openCellServers, openLedgers } from '../harness/cells.ts'
import { PATIENCE_MS } from '../harness/patience.ts'
import { retirePartition } from '../harness/retire-partition.ts'
import { shared } from '../harness/shared.ts'

const never = new AbortController().signal
const WAITING_FOR_US =
  'select from pg_locks where not granted and pg_backend_pid() = any(pg_blocking_pids(pid))'

describe('the ledgers of several cells', () => {
  const cells = shared(openCellServers)
  let ledgers: [Pool, ...Pool[]]
  beforeAll(async () => {
    await addUsers(...Array.from({ length: 20 }, (_, i) => `u${i}`))
    await cells.spread(4)
    ledgers = await openLedgers(cells)
  })
  afterAll(async () => {
    for (const ledger of ledgers ?? []) await ledger.end()
  })

  /** Users who have used something. */
  const addUsers = async (...ids: string[]) => {
    await createUsers(cells.app.admin, ids)
    for (const id of ids) {
      await cells.app.admin.data(`mutation { subscribe(userId: "${id}", packageIds: ["plan"]) { id } }`)
      await cells.record(cells.app.admin, id)
    }
  }

  it('are kept: partitions open everywhere, and what is retired still counts', async () => {
    const kept = await keepLedger(ledgers, { partitionSeconds: 0, keptSeconds: 0 }, never)
    expect(kept.opened).not.toBeNull()
    await cells.record(cells.app.admin, 'u1')
    const again = await keepLedger(ledgers, { partitionSeconds: 0, keptSeconds: 0 }, never)
    expect(again.retired).toContain(kept.opened)
    for (const ledger of ledgers) expect(await unbalancedCounters(ledger)).toBe(0)
    expect(await unbalancedCounters(cells.pool)).toBe(0)
    // A user whose entries were retired can be moved.
    const buckets = await readBuckets(cells.pool)
    const bucket = bucketOf('default', 'u1')
    const from = buckets[bucket] ?? 0
    await moveBuckets(cells.pool, [{ bucket, to: (from + 1) % 4 }], MOVING)
    expect(await unbalancedCounters(cells.pool)).toBe(0)
    await cells.record(cells.app.admin, 'u1')
    expect(await unbalancedCounters(cells.pool)).toBe(0)
  })

  describe('while a partition is being retired', () => {
    /** Closes the current partition, and returns its block. */
    const closed = async () => {
      const { opened } = await keepLedger(ledgers, { partitionSeconds: 0, keptSeconds: null }, never)
      return (opened ?? 0) - 1
    }
    const cellOf = async (id: string) => (await readBuckets(cells.pool))[bucketOf('default', id)] ?? 0

    it('no entry is lost of a user who comes into its cell', async () => {
      for (let i = 0; i < 20; i++) await cells.record(cells.app.admin, `u${i}`)
      const block = await closed()
      const to = ((await cellOf('u3')) + 1) % 4
      let moved = false
      const retired = await retirePartition(ledgers[to] as Pool, block, {
        stopping: never,
        async archive() {
          if (!moved) await moveBuckets(cells.pool, [{ bucket: bucketOf('default', 'u3'), to }], MOVING)
          moved = true
          return { file: 'file', sha256: '' }
        },
      })
      expect(retired).toBe(true)
      expect(await unbalancedCounters(ledgers[to] as Pool)).toBe(0)
      await keepLedger(ledgers, { partitionSeconds: 86_400, keptSeconds: 0 }, never)
      expect(await unbalancedCounters(cells.pool)).toBe(0)
    })

    it('all cells are made ready before the first has retired it, so that users can be moved', async () => {
      for (let i = 0; i < 20; i++) await cells.record(cells.app.admin, `u${i}`)
      const block = await closed()
      const differ: boolean[] = []
      const archive = async () => {
        differ.push(await ledgersDiffer(cells.pool))
        // Two of the cells are then made ready again.
        const to = ((await cellOf('u5')) + 1) % 4
        if (differ.length === 4)
          await moveBuckets(cells.pool, [{ bucket: bucketOf('default', 'u5'), to }], MOVING)
        return { file: 'file', sha256: '' }
      }
      const outcomes = await retireTogether(
        ledgers.map((pool) => ({ pool, archive })),
        block,
        { stopping: never },
      )
      expect(outcomes).toEqual([true, true, true, true])
      expect(differ).toEqual([false, false, false, false, false, false])
      expect(await ledgersDiffer(cells.pool)).toBe(false)
      expect(await unbalancedCounters(cells.pool)).toBe(0)
    })

    it('users stay where they are once it had to be begun again and again', async () => {
      await addUsers('mover')
      const block = await closed()
      const from = await cellOf('mover')
      let [id, number, refused] = ['mover', 0, 0]
      /** Out of the cell and back, in turn. */
      const rename = async () => {
        const to = (await cellOf(id)) === from ? (from + 1) % 4 : from
        let newId = id
        while ((await cellOf(newId)) !== to) newId = `mover-${++number}`
        const { errors } = await cells.app.admin.ask(
          `mutation { updateUser(id: "${id}", input: { id: "${newId}" }) { id } }`,
        )
        if (!errors) id = newId
        else if (errors[0]?.extensions?.code === 'UNAVAILABLE') refused++
        else throw new Error(JSON.stringify(errors))
      }
      let archives = 0
      const retired = await retirePartition(ledgers[from] as Pool, block, {
        stopping: never,
        async archive() {
          archives++
          await rename()
          return { file: 'file', sha256: '' }
        },
      })
      expect({ retired, archives, refused }).toEqual({ retired: true, archives: 3, refused: 1 })
      await keepLedger(ledgers, { partitionSeconds: 86_400, keptSeconds: 0 }, never)
      const before = id
      await rename()
      expect(id).not.toBe(before)
      expect(await unbalancedCounters(cells.pool)).toBe(0)
    })

    it('no entry is lost of a user who is just leaving its cell', async () => {
      await addUsers('leaver')
      const block = await closed()
      const from = await cellOf('leaver')
      let newId = 'renamed'
      while ((await cellOf(newId)) === from) newId += '!'
      const held = await cells.pool.connect()
      try {
        await held.query('begin')
        await held.query(`select from c${from}.usage_counter where user_uid = (select uid from users
          where app_id = 'default' and id = 'leaver') for update`)
        const renaming = cells.app.admin.data(
          `mutation { updateUser(id: "leaver", input: { id: "${newId}" }) { id } }`,
        )
        await expect
          .poll(async () => (await held.query(WAITING_FOR_US)).rowCount, { timeout: PATIENCE_MS })
          .toBe(1)
        const retiring = retirePartition(ledgers[from] as Pool, block, { stopping: never })
        await Promise.race([retiring, delay(1_000)])
        await held.query('commit')
        await renaming
        expect(await retiring).toBe(true)
      } finally {
        held.release()
      }
      await keepLedger(ledgers, { partitionSeconds: 86_400, keptSeconds: 0 }, never)
      expect(await unbalancedCounters(cells.pool)).toBe(0)
    })
  })
})
