import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createUsers } from '../harness/catalogue.ts'
import { type CellServers, openCellServers, pretendRemote } from '../harness/cells.ts'

// A process that does not know yet that a user is on another server finds out by asking, and then asks there. The charts
// show one call.

describe('gap: calls about a user who is on another server since', () => {
  let cells: CellServers
  let id: string
  beforeAll(async () => {
    cells = await openCellServers()
    const users = Array.from({ length: 20 }, (_, i) => `u${i}`)
    await createUsers(cells.app.admin, users)
    for (const user of users)
      await cells.app.admin.data(`mutation { subscribe(userId: "${user}", packageIds: ["plan"]) { id } }`)
    await cells.spread(2)
    const homes = await Promise.all(users.map((user) => cells.cellsOfUser(user)))
    id = users[homes.findIndex(([home]) => home === 'c1')] ?? ''
    await pretendRemote(cells.pool)
  })
  afterAll(() => cells?.close())

  it('are counted once', async () => {
    const [one, other] = cells.servers
    expect(await cells.usedBy(one.admin, id)).toBe(0)
    expect(await cells.record(other.admin, id)).toBe(1)
    for (const { dashboard } of cells.servers)
      await dashboard.data('{ latestEvents(appId: "default") { id } }')
    const { rows } = await cells.pool.query(
      `select sum(checks)::int as checks, sum(records)::int as records from activity where app_id = 'default'`,
    )
    expect(rows).toEqual([{ checks: 1, records: 1 }])
  })
})
