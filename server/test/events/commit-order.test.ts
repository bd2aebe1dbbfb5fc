import { describe, it } from 'vitest'
import { startTestServer } from '../harness/server.ts'
import { shared } from '../harness/shared.ts'
import { checkCommitOrder, WRITERS } from './commit-order.ts'

const server = shared(startTestServer)
const other = shared(() => startTestServer({ databaseUrl: server.databaseUrl }))

describe('gap: events, the order of commits', () => {
  it(
    `is kept for ${WRITERS} writers and three readers: none skipped, none out of order`,
    () => checkCommitOrder(server.databaseUrl, [server.admin, other.admin], { open: 16, rounds: 2 }),
    120_000,
  )
})
