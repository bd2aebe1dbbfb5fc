import { setTimeout as delay } from 'node:timers/promises'
import { rowsOf } from '../harness/database.ts'

/** Waits until nothing is to be done in the background: no job in hand or due, no notice unread. */
export async function jobsDone(databaseUrl: string): Promise<void> {
  for (;;) {
    const [row] = await rowsOf<{ waiting: string }>(
      { connectionString: databaseUrl },
      `select (select count(*) from graphile_worker.jobs where attempts < max_attempts and run_at <= now())
            + (select count(*) from graphile_worker.jobs where locked_at is not null) as waiting`,
    )
    if (Number(row?.waiting) === 0) return
    await delay(10)
  }
}
