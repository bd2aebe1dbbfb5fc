import { pino } from 'pino'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { FeatureCounts } from '../../src/operations/usage/feature-counts.ts'
import { recordBatch } from '../../src/operations/usage/record-batch.ts'
import { AppCache } from '../../src/store/apps/app-cache.ts'
import { placesIn } from '../../src/store/cells/cell-places.ts'
import { CellUsage } from '../../src/store/cells/cell-usage.ts'
import { Cells } from '../../src/store/cells/cells.ts'
import { openPool, type Pool } from '../../src/store/connection/database.ts'
import { unbalancedCounters } from '../../src/store/schema/tables.ts'
import { before, type SentStatement } from '../harness/before-statement.ts'
import { createUsers } from '../harness/catalogue.ts'
import { openCellServers, pretendRemote } from '../harness/cells.ts'
import { monotonic } from '../harness/clocks.ts'
import { shared } from '../harness/shared.ts'

// Invariant: the first usage of a user is counted where the user is, even if they go to another cell between the decision
// and the write, because their id changes.

/** The first statement that would write, or hold the user where they are. */
const isWrite = ({ text }: SentStatement): boolean =>
  text.includes('.write_usage(') || text.includes('for key share')

describe.each([{ from: 'a cell' }, { from: 'a cell on another server' }])('first usage in $from', ({
  from,
}) => {
  const cells = shared(openCellServers)
  let known: Cells
  let pool: Pool
  beforeAll(async () => {
    await cells.spread(2)
    if (from === 'a cell on another server') await pretendRemote(cells.pool)
    known = new Cells()
    const { databaseUrl } = cells.servers[0]
    pool = openPool(
      { connectionString: databaseUrl },
      { max: 2, keyLookups: true, places: placesIn(known) },
      pino({ level: 'silent' }),
    )
    await known.read(pool)
  })
  afterAll(async () => {
    await pool?.end()
  })

  async function idIn(cell: string): Promise<string> {
    for (let n = 0; ; n++) {
      const id = `${cell}-${n}`
      await createUsers(cells.app.admin, [id])
      if ((await cells.cellsOfUser(id))[0] === cell) return id
    }
  }

  it('is counted once, where the user is, if the user leaves before it is written', async () => {
    const [id, newId] = [await idIn('c1'), await idIn('c0')]
    await cells.app.admin.data(`mutation { deleteUser(id: "${newId}") { id } }`)
    await cells.app.admin.data(`mutation { subscribe(userId: "${id}", packageIds: ["plan"]) { id } }`)
    const client = await pool.connect()
    const leaving = before(client, isWrite, async () => {
      await cells.app.admin.data(`mutation { updateUser(id: "${id}", input: { id: "${newId}" }) { id } }`)
    })
    const [result] = await recordBatch(
      new CellUsage(known),
      new AppCache(monotonic),
      leaving,
      [
        {
          caller: { appId: 'default', actor: { kind: 'service' }, deadline: null },
          event: { userId: id, featureId: 'call', action: 'ADD', delta: 3 },
          key: null,
        },
      ],
      new FeatureCounts(),
    )
    client.release()
    // By then the id is nobody's.
    expect(result).toEqual({ value: expect.objectContaining({ recorded: false }) })
    expect(await cells.cellsOfUser(newId)).toEqual(['c0'])
    expect(await cells.usedBy(cells.app.admin, newId)).toBe(0)
    expect(await cells.cellsWith('usage_counter', 'true')).toEqual([])

    expect(await cells.record(cells.app.admin, newId, 2)).toBe(2)
    await cells.app.admin.data(`mutation { updateUser(id: "${newId}", input: { id: "${id}" }) { id } }`)
    expect(await cells.usedBy(cells.app.admin, id)).toBe(2)
    expect(await unbalancedCounters(cells.pool)).toBe(0)
  })
})
