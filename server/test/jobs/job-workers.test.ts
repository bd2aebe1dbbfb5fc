import { pino } from 'pino'
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { JobWorkers } from '../../src/operations/upkeep/job-workers.ts'
import { openPool, type Pool } from '../../src/store/connection/database.ts'
import { addJob, freeStrandedJobs } from '../../src/store/jobs/jobs.ts'
import { createDatabase, type TestDatabase } from '../harness/database.ts'
import { PATIENCE_MS } from '../harness/patience.ts'
import { startTestServer } from '../harness/server.ts'

// Invariants: the jobs of a dead worker are freed; those of a live one are not, however late it is within the bound;
// those of a process without a number are left to the rule of ten minutes.

let database: TestDatabase
let pool: Pool
beforeAll(async () => {
  database = await createDatabase()
  pool = openPool({ connectionString: database.url }, { max: 2 }, pino({ level: 'silent' }))
})
afterAll(async () => {
  await pool?.end()
  await database?.drop()
})
beforeEach(async () => {
  await pool.query('delete from graphile_worker._private_jobs')
  await pool.query('delete from job_worker')
})

async function inHandOf(worker: string): Promise<void> {
  await addJob(pool, 'turn-sandbox', { appId: worker })
  await pool.query(
    `update graphile_worker._private_jobs set locked_by = $1, locked_at = now() where locked_by is null`,
    [worker],
  )
}

const holders = async (): Promise<string[]> => {
  const { rows } = await pool.query<{ by: string | null }>(
    'select locked_by as by from graphile_worker._private_jobs order by id',
  )
  return rows.map(({ by }) => by ?? 'free')
}

function workers(...ids: string[]): JobWorkers {
  const made = new JobWorkers()
  made.own(ids)
  return made
}

describe('gap: durability, the jobs of a dead process', () => {
  it('are free after four looks without a sign of life, and only they', async () => {
    const [dead, living, observer] = [workers('dead'), workers('living'), workers('observer')]
    for (const worker of ['dead', 'living', 'that never reported']) await inHandOf(worker)
    await dead.look(pool)
    const found: string[][] = []
    for (let look = 0; look <= 4; look++) {
      found.push([...(await living.look(pool)), ...(await observer.look(pool))])
    }
    expect(found).toEqual([[], [], [], [], ['dead']])
    expect(await holders()).toEqual(['free', 'living', 'that never reported'])
  })

  it('are not free while their worker is late, but within three looks', async () => {
    const [slow, observer] = [workers('slow'), workers('observer')]
    await inHandOf('slow')
    for (let round = 0; round < 5; round++) {
      await slow.look(pool)
      for (let look = 0; look < 4; look++) expect(await observer.look(pool)).toEqual([])
    }
    expect(await holders()).toEqual(['slow'])
  })

  it('of a worker that was taken for dead: it is seen again once it comes back', async () => {
    const [slow, observer] = [workers('slow'), workers('observer')]
    await slow.look(pool)
    for (let look = 0; look <= 4; look++) await observer.look(pool)
    await slow.look(pool)
    await inHandOf('slow')
    expect(await observer.look(pool)).toEqual([])
    expect(await holders()).toEqual(['slow'])
  })

  it('are not found by the clock: a step of it frees nobody’s', async () => {
    const [one, other] = [workers('one'), workers('other')]
    await inHandOf('one')
    await one.look(pool)
    await other.look(pool)
    await pool.query(`update graphile_worker._private_jobs set locked_at = now() - interval '9 minutes'`)
    await other.look(pool)
    await freeStrandedJobs(pool, 10)
    expect(await holders()).toEqual(['one'])
  })

  it('of a worker that never reported are free after ten minutes', async () => {
    await inHandOf('that never reported')
    await pool.query(`update graphile_worker._private_jobs set locked_at = now() - interval '11 minutes'`)
    await freeStrandedJobs(pool, 10)
    expect(await holders()).toEqual(['free'])
  })

  it('a process that stops in order leaves no worker behind to be taken for dead', async () => {
    const count = async () => Number((await pool.query('select count(*) from job_worker')).rows[0]?.count)
    const server = await startTestServer({ databaseUrl: database.url })
    await vi.waitFor(async () => expect(await count()).toBeGreaterThan(0), PATIENCE_MS)
    await server.stop()
    expect(await count()).toBe(0)
  })
})
