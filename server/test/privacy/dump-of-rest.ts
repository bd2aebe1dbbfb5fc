import { eventsPublished } from '../events/published.ts'
import { dump } from '../harness/dump.ts'

/** The row of a user.deleted that has no more than the id: (app, sequence, event, type, time, uid, id, data). */
const REPORT =
  /^\([^,]*,\d+,evt_\w+,user\.deleted,"[^"]*",\d+,(?:"[^"]*"|[^",]*),"\{""version"":\d+,""object"":\{""id"":""[^"]*""\},""previous"":null\}"\)$/

/**
 * Everything but the events that report deletions, by the id alone. A partition's rows are its table's. Events that were being
 * published during a deletion lose their content when the deletion itself is published, so that is waited for.
 */
export async function dumpOfRest(databaseUrl: string): Promise<Map<string, string[]>> {
  await eventsPublished(databaseUrl)
  const all = [...(await dump(databaseUrl))].filter(([name]) => !/^event_log_\d+$/.test(name))
  const isReport = (name: string, row: string) => name === 'event_log' && REPORT.test(row)
  return new Map(all.map(([name, rows]) => [name, rows.filter((row) => !isReport(name, row))]))
}
