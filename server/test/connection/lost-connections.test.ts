import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { pino } from 'pino'
import { expect, it } from 'vitest'
import { openPool } from '../../src/store/connection/database.ts'
import { openToolPool } from '../../src/store/connection/tool-connection.ts'

// A PostgreSQL that accepts a connection and ends it in the same packet, as one does that is told to stop at that moment.
// An error event that nobody listens to would end this process, and the run would fail by it.

const message = (type: string, body: Buffer): Buffer => {
  const length = Buffer.alloc(4)
  length.writeInt32BE(body.length + 4)
  return Buffer.concat([Buffer.from(type), length, body])
}

const ACCEPTED_AND_ENDED = Buffer.concat([
  message('R', Buffer.alloc(4)),
  message('Z', Buffer.from('I')),
  message('E', Buffer.from('SFATAL\0C57P01\0Mterminating connection due to administrator command\0\0')),
])

async function endingServer() {
  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
    sockets.add(socket)
    socket.on('error', () => {}).once('data', () => socket.end(ACCEPTED_AND_ENDED))
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return {
    url: `postgresql://somebody@127.0.0.1:${port}/any?sslmode=disable`,
    close() {
      for (const socket of sockets) socket.destroy()
      server.close()
    },
  }
}

it.each([
  [
    'the service',
    (connectionString: string) => openPool({ connectionString }, { max: 1 }, pino({ level: 'silent' })),
  ],
  ['a tool', (connectionString: string) => openToolPool({ connectionString }, 'DATABASE_URL')],
])('gap: durability: %s survives a connection that is ended with its greeting', async (_, open) => {
  const server = await endingServer()
  const pool = open(server.url)
  try {
    for (let attempt = 0; attempt < 3; attempt++) await expect(pool.query('select')).rejects.toThrow()
  } finally {
    await pool.end()
    server.close()
  }
})
