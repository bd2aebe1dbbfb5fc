// An application's backend: one metered endpoint, and a token for the page.
import { serve } from '@hono/node-server'
import { Tollgate } from '@tollgate/sdk/node'
import { Hono } from 'hono'
import { furnish, requireKey, SERVICE, USER } from './furnish.ts'

requireKey()
await furnish().catch((error: Error) => {
  console.error(`The example could not be set up at ${SERVICE}: ${error.message}`)
  process.exit(1)
})

const tollgate = new Tollgate({
  onError: (error) => console.error(`Tollgate: ${error.message}`),
  // While the service is away people go on working, and what they used is counted later.
  queue: {},
})
const app = new Hono()

// Whoever is signed in. There is one user here, so that the example stays short.
const userOf = () => USER

app.post('/api/summaries', async (context) => {
  const { data, error } = await tollgate.recordUsage({ userId: userOf(), featureId: 'summaries', delta: 1 })
  if (error) return context.json({ message: 'Try again in a moment.' }, 503)
  if (!data.recorded && !data.queued) return context.json({ message: data.reason }, 402)
  return context.json({ summary: 'It was the best of times, it was the worst of times.' })
})

app.get('/api/token', async (context) => {
  const { data, error } = await tollgate.generateUserToken({ userId: userOf() })
  return error ? context.text('', 503) : context.text(data.token)
})

const port = Number(process.env.PORT ?? 8787)
const server = serve({ fetch: app.fetch, hostname: '127.0.0.1', port }, ({ port }) =>
  console.log(`The backend listens on http://127.0.0.1:${port}`),
)
for (const signal of ['SIGINT', 'SIGTERM'])
  process.once(signal, () => {
    server.close()
    tollgate.close()
  })
