import { setTimeout as delay } from 'node:timers/promises'
import { withConnection } from '../harness/database.ts'

const MOST_MS = 30_000

/** Waits until the events of everything that has happened are published. */
export const eventsPublished = (databaseUrl: string): Promise<void> =>
  withConnection({ connectionString: databaseUrl }, async (client) => {
    const began = performance.now()
    for (;;) {
      const { rowCount } = await client.query('select from event_outbox limit 1')
      if (rowCount === 0) return
      if (performance.now() - began > MOST_MS) throw new Error('events are not published')
      await delay(20)
    }
  })
