import { once } from 'node:events'
import { pino } from 'pino'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openPool, type Pool } from '../../src/store/connection/database.ts'
import { HeldConnection } from '../../src/store/connection/held-connection.ts'
import { directly } from '../harness/database.ts'
import { startTestServer } from '../harness/server.ts'
import { shared } from '../harness/shared.ts'

const server = shared(startTestServer)
let pool: Pool
beforeAll(async () => {
  // Past a pooler, which would replace the lost backend by itself.
  pool = openPool({ connectionString: directly(server.databaseUrl) }, { max: 2 }, pino({ level: 'silent' }))
})
afterAll(async () => {
  await pool.end()
})

const backendOf = (held: HeldConnection): Promise<number> =>
  held.use(async (db) => {
    const { rows } = await db.query<{ pid: number }>('select pg_backend_pid() as pid')
    return rows[0]?.pid ?? 0
  })

describe('a held connection', () => {
  it('is the same one for statement after statement', async () => {
    const held = new HeldConnection(pool)
    expect(await backendOf(held)).toBe(await backendOf(held))
    held.release()
  })

  it.each(['while idle', 'in the middle of a statement'])('is replaced when it is lost %s', async (when) => {
    const held = new HeldConnection(pool)
    const lost = await backendOf(held)
    const removed = once(pool, 'remove')
    const statement =
      when === 'while idle' ? null : held.use((db) => db.query('select pg_sleep(60)')).catch((error) => error)
    await pool.query('select pg_terminate_backend($1::int)', [lost])
    await removed
    if (statement) expect(await statement).toBeInstanceOf(Error)
    expect(await backendOf(held)).not.toBe(lost)
    held.release()
  })

  it('given back, it lets the pool end', async () => {
    const own = openPool({ connectionString: server.databaseUrl }, { max: 1 }, pino({ level: 'silent' }))
    const held = new HeldConnection(own)
    await backendOf(held)
    held.release()
    await own.end()
    expect(own.totalCount).toBe(0)
  })
})
