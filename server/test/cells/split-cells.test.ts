import { pino } from 'pino'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { beginSplit, moveBuckets } from '../../src/operations/upkeep/cells.ts'
import { readBuckets } from '../../src/store/cells/move-users.ts'
import { openPool, type Pool } from '../../src/store/connection/database.ts'
import { cellTool } from '../../src/tools/cell-tools.ts'
import { MOVING } from '../harness/cells.ts'
import { monotonic } from '../harness/clocks.ts'
import { createPlainDatabase, directly, type TestDatabase } from '../harness/database.ts'
import { startTestServer, type TestServer } from '../harness/server.ts'
import { outputInto } from '../harness/tool-output.ts'

const quiet = () => {}

describe('a split that was cut short', () => {
  let database: TestDatabase
  let server: TestServer
  let pool: Pool
  beforeAll(async () => {
    database = await createPlainDatabase()
    server = await startTestServer({ databaseUrl: database.url })
    const connection = { connectionString: directly(server.databaseUrl) }
    pool = openPool(connection, { max: 2, statementMs: Number.POSITIVE_INFINITY }, pino({ level: 'silent' }))
  })
  afterAll(async () => {
    await pool?.end()
    await server?.stop()
    await database?.drop()
  })

  /** Runs the operator's command; returns what it prints. */
  async function cells(...args: string[]): Promise<string[]> {
    const printed: string[] = []
    const undo: (() => Promise<void>)[] = []
    const installation = {
      database: { url: directly(server.databaseUrl), setting: 'DATABASE_URL' as const },
      dataDir: '',
    }
    await cellTool({ ...outputInto(printed), installation, undo, monotonic }, args)
    for (const step of undo.reverse()) await step()
    return printed
  }
  const sizes = async () => {
    const buckets = await readBuckets(pool)
    return [...new Set(buckets)].sort().map((cell) => buckets.filter((of) => of === cell).length)
  }

  it('is completed by the same command, wherever it stopped; the next is one of its own', async () => {
    // Stopped before any user was moved, then on the way.
    const { to, moves } = await beginSplit(pool, 0, quiet)
    expect([to, moves.length]).toEqual([1, 512])
    expect(await beginSplit(pool, 0, quiet)).toEqual({ to, moves })
    await moveBuckets(pool, moves.slice(0, 200), MOVING)
    expect(await beginSplit(pool, 0, quiet)).toEqual({ to, moves: moves.slice(200) })

    expect(await cells('split', '0')).toEqual(['Moved 0 users in 312 buckets.'])
    expect(await sizes()).toEqual([512, 512])
    await cells('split', '0')
    expect(await sizes()).toEqual([256, 512, 256])
  })

  it('is over once the cells were balanced', async () => {
    const { to, moves } = await beginSplit(pool, 1, quiet)
    await moveBuckets(pool, moves.slice(0, 10), MOVING)
    await cells('balance')
    expect(await sizes()).toEqual([256, 256, 256, 256])
    expect((await beginSplit(pool, 1, quiet)).to).toBe(to + 1)
  })
})
