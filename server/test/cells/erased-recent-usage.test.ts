import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { deleteRecentUsage, deleteUserRows } from '../../src/store/privacy/erase-user.ts'
import { lockErasures } from '../../src/store/privacy/erased-refs.ts'
import { createUsers } from '../harness/catalogue.ts'
import { type CellServers, openCellServers, pretendRemote } from '../harness/cells.ts'
import { inItsPlace } from '../harness/store.ts'

describe('gap: deleteUser, of a user on another server', () => {
  let cells: CellServers
  let id: string
  beforeAll(async () => {
    cells = await openCellServers()
    await cells.spread(2)
    await pretendRemote(cells.pool)
    for (let n = 0; !id; n++) {
      await createUsers(cells.app.admin, [`u${n}`])
      if ((await cells.cellsOfUser(`u${n}`))[0] === 'c1') id = `u${n}`
    }
    await cells.app.admin.data(`mutation { subscribe(userId: "${id}", packageIds: ["plan"]) { id } }`)
  })
  afterAll(() => cells?.close())

  it('leaves no recent usage behind that is being noted meanwhile', async () => {
    expect(await cells.record(cells.app.admin, id)).toBe(1)
    const tx = await cells.pool.connect()
    await tx.query('begin; set local search_path = c1, public')
    await lockErasures(tx, 'default')
    await deleteRecentUsage(tx, 'default', [id])
    const { rows } = await tx.query('select uid from users where id = $1', [id])
    await deleteUserRows(inItsPlace(tx), 'default', rows[0].uid)
    let flushed = false
    // On a busy machine it may tire of waiting.
    const flush = cells.app.dashboard.ask('{ latestEvents(appId: "default") { id } }').finally(() => {
      flushed = true
    })
    const waits = async () => {
      const { rowCount } = await cells.pool.query(
        `select from pg_locks where locktype = 'advisory' and not granted
           and database = (select oid from pg_database where datname = current_database())`,
      )
      return rowCount !== 0
    }
    while (!flushed && !(await waits())) await delay(10)
    await tx.query('commit')
    tx.release()
    await flush
    const { rows: left } = await cells.pool.query('select user_id from recent_usage')
    expect(left).toEqual([])
  })
})
