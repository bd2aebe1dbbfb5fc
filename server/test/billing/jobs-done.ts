import { setTimeout as delay } from 'node:timers/promises'
import { withConnection } from '../harness/database.ts'

/** Waits until nothing is to be done in the background: no job in hand or due, no notice unread. */
export const jobsDone = (databaseUrl: string): Promise<void> =>
  withConnection({ connectionString: databaseUrl }, async (client) => {
    for (;;) {
      const { rows } = await client.query<{ waiting: string }>(
        `select (select count(*) from graphile_worker.jobs where attempts < max_attempts and run_at <= now())
              + (select count(*) from graphile_worker.jobs where locked_at is not null) as waiting`,
      )
      if (Number(rows[0]?.waiting) === 0) return
      await delay(10)
    }
  })
