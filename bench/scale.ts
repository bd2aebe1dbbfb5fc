import { once } from 'node:events'
import { createReadStream, createWriteStream } from 'node:fs'
import { request } from 'node:http'
import { join } from 'node:path'
import { json } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Client, type Data, signedIn } from '../server/test/harness/client.ts'
import { sessionCookie } from '../server/test/harness/import.ts'
import { runScript, scratchFolder } from './cleanup.ts'
import { busyWarning } from './machine.ts'
import { startPostgres } from './postgres.ts'
import { say } from './progress.ts'
import { APP, FEATURE, seededDatabase, userId } from './seed.ts'
import { OWNER, type Server, startServer } from './server.ts'

// How long an import of as many rows as there are users takes, and a publish preview over a third of them:
// `npm run build && npx tsx bench/scale.ts [users]`. Not a pair: there is nothing to compare it with.

const ID = 'scale'

async function main(users: number): Promise<void> {
  const warning = busyWarning()
  const folder = await scratchFolder('scale')
  const postgres = await startPostgres(join(folder, 'data'))
  const { url } = await seededDatabase(postgres, users)
  const server = await startServer(url)
  const dashboard = await signedIn(server.url, OWNER)
  const file = join(folder, 'users.csv')
  await writeRows(file, users)

  const timed = async (what: string, work: () => Promise<Data>) => {
    const began = performance.now()
    const told = await work()
    const seconds = ((performance.now() - began) / 1_000).toFixed(1)
    const peak = (await server.memory())?.peak.toFixed(0) ?? 'unknown'
    say(`${what}: ${seconds} s, peak memory of the server ${peak} MB: ${JSON.stringify(told)}`)
  }
  await timed('check', () => check(server, file))
  await timed('apply', () => move(dashboard, 'applyUserImport'))
  await timed('undo', () => move(dashboard, 'undoUserImport'))
  await dashboard.data(
    `mutation ($appId: String!, $features: [EditPackageFeatureInput!]) {
      editPackage(appId: $appId, id: "starter", input: { features: $features }) { id } }`,
    { appId: APP, features: [{ id: FEATURE, entitlement: { limit: 500, resetPeriod: 'MONTH' } }] },
  )
  await timed('publish preview', async () => {
    const { publishPreview } = await dashboard.data(
      `query ($appId: String!) { publishPreview(appId: $appId, packageId: "starter") { subscribers gain lose } }`,
      { appId: APP },
    )
    return publishPreview
  })
  server.checkLog()
  if (warning) say(`Warning: ${warning}.`)
}

/** Every user once, in no order; of each thousand rows one is bad. */
async function writeRows(path: string, users: number): Promise<void> {
  const out = createWriteStream(path)
  out.write('id,email,billingId\n')
  for (let i = 1; i <= users; i++) {
    const n = ((i * 7919) % users) + 1
    const email = i % 1_000 === 0 ? 'none' : `user${n}@new.example.com`
    if (!out.write(`${userId(n)},${email},new_${n}\n`)) await once(out, 'drain')
  }
  out.end()
  await once(out, 'close')
}

/** A dry run. `fetch` would give up on an answer that takes minutes. */
async function check({ url }: Server, path: string): Promise<Data> {
  const query = new URLSearchParams({ app: APP, import: ID, dryRun: '1' })
  const sending = request(`${url}/dashboard/import/users?${query}`, {
    method: 'POST',
    headers: { Cookie: await sessionCookie({ url }, OWNER), 'Content-Type': 'text/csv' },
  })
  const answered = once(sending, 'response')
  createReadStream(path).pipe(sending)
  const [response] = await answered
  const { rows, changed, bad } = (await json(response)) as Data
  return { rows, changed, bad }
}

async function move(dashboard: Client, mutation: string): Promise<Data> {
  const variables = { appId: APP, id: ID }
  await dashboard.data(
    `mutation ($appId: String!, $id: String!) { ${mutation}(appId: $appId, id: $id) { state } }`,
    variables,
  )
  for (;;) {
    const { userImport } = await dashboard.data(
      'query ($appId: String!, $id: String!) { userImport(appId: $appId, id: $id) { state applied refused undone kept } }',
      variables,
    )
    if (!userImport.state.endsWith('ING')) return userImport
    await sleep(200)
  }
}

await runScript(async () => {
  await main(Number(process.argv[2] ?? 1_000_000))
})
