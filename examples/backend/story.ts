// A streaming endpoint: server-sent tokens, paid for as they are sent.
import { createServer, type ServerResponse } from 'node:http'
import { setTimeout as pause } from 'node:timers/promises'
import { Tollgate } from '@tollgate/sdk/node'
import { furnishTokens, requireKey, SERVICE, USER } from './furnish.ts'

requireKey()
await furnishTokens().catch((error: Error) => {
  console.error(`The example could not be set up at ${SERVICE}: ${error.message}`)
  process.exit(1)
})

const tollgate = new Tollgate({ onError: (error) => console.error(`Tollgate: ${error.message}`) })

/** Stands for a language model: nobody knows beforehand how many tokens a story has. */
async function* story() {
  const words = 'It was the best of times , it was the worst of times ,'.split(' ')
  for (let i = 0; i < 10_000; i++) {
    await pause(5)
    yield words[i % words.length]
  }
}

async function tell(response: ServerResponse): Promise<void> {
  let sent = 0
  const { data, error } = await tollgate.withReservation(
    { userId: USER, featureId: 'tokens', amount: 50, atLeast: 1, ttlSeconds: 60 },
    async (reservation) => {
      response.writeHead(200, { 'Content-Type': 'text/event-stream', 'Cache-Control': 'no-store' })
      for await (const token of story()) {
        if (response.destroyed) return // The reader has left.
        response.write(`id: ${++sent}\ndata: ${token}\n\n`)
        if (!(await reservation.add(1))) return // There are no tokens left.
      }
    },
  )
  console.log(`Sent ${sent} tokens, and ${data?.used ?? 'an unknown number'} were settled`)
  if (response.headersSent) response.end()
  else if (error) response.writeHead(503).end('Try again in a moment.\n')
  else if (!data.reserved) response.writeHead(402).end(`${data.reason}\n`)
}

const server = createServer((request, response) => {
  if (request.url !== '/story') return response.writeHead(404).end()
  tell(response).catch((error: Error) => {
    console.error(error)
    response.destroy()
  })
})
server.listen(Number(process.env.PORT ?? 8788), '127.0.0.1', () => {
  const address = server.address()
  if (typeof address === 'object') console.log(`The story listens on http://127.0.0.1:${address?.port}`)
})
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => server.close())
