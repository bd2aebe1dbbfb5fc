import { setTimeout as delay } from 'node:timers/promises'
import { withConnection } from '../harness/database.ts'

/** Waits until the events of everything that has happened are published. */
export const eventsPublished = (databaseUrl: string): Promise<void> =>
  withConnection({ connectionString: databaseUrl }, async (client) => {
    for (;;) {
      const { rowCount } = await client.query('select from event_outbox limit 1')
      if (rowCount === 0) return
      await delay(20)
    }
  })
