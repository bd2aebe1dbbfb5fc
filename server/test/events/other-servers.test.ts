import { pino } from 'pino'
import { expect, it } from 'vitest'
import { openCellServers, pretendRemote } from '../harness/cells.ts'
import { startTestServer } from '../harness/server.ts'
import { shared } from '../harness/shared.ts'

// Changes of users in cells on other servers are not in the log of events. A start says so.

const cells = shared(openCellServers)

async function warningsOfStart(): Promise<string[]> {
  const lines: string[] = []
  const server = await startTestServer({
    databaseUrl: cells.servers[0].databaseUrl,
    log: pino({ level: 'warn' }, { write: (line: string) => lines.push(line) }),
  })
  await server.stop()
  return lines.filter((line) => line.includes('are not in the event log'))
}

it('gap: events: a start warns of cells on other servers, and only of those', async () => {
  await cells.spread(2)
  expect(await warningsOfStart()).toEqual([])
  await pretendRemote(cells.pool)
  expect(await warningsOfStart()).toHaveLength(1)
})
