import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { chmod, mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { createUsers, publishPackage } from '../harness/catalogue.ts'
import { signedIn } from '../harness/client.ts'
import { type DataFolder, makeDataFolder } from '../harness/data-folder.ts'
import {
  API_KEY,
  adminClient,
  OWNER,
  OWNER_SETTINGS,
  type ServerProcess,
  spawnServer,
} from '../harness/server.ts'

// The drill of docs/operations/backup.md, exactly as written: its commands are read from the document.

const ROOT = fileURLToPath(new URL('../../..', import.meta.url))
const USERS = Array.from({ length: 20 }, (_, i) => `u${i}`)

/** The shell commands of the drill, by its steps. */
function commandsOfDrill(): string[][] {
  const text = readFileSync(join(ROOT, 'docs/operations/backup.md'), 'utf8')
  const drill = text.slice(text.indexOf('### Recovery drill'))
  return [...drill.matchAll(/```sh\n([\s\S]*?)```/g)].map(([, block = '']) =>
    block
      .split('\n')
      .map((line) => line.replace(/\s+#.*$/, '').trim())
      .filter((line) => line !== ''),
  )
}

let home: DataFolder
let folder: DataFolder
let server: ServerProcess | null = null
beforeAll(async () => {
  home = await makeDataFolder()
  const data = join(home.path, 'tollgate-data')
  await mkdir(data)
  await chmod(data, 0o755)
  folder = await makeDataFolder(data)
})
afterAll(async () => {
  await server?.kill('SIGTERM')
  await folder?.remove()
  await home?.remove()
})

const start = () =>
  spawnServer({ ...OWNER_SETTINGS, TOLLGATE_DATA_DIR: folder.path, TOLLGATE_LOG_LEVEL: 'error' })

/** Runs a line of the drill as an operator's shell would. */
async function run(line: string, pid: number): Promise<string> {
  const env = {
    PATH: process.env.PATH ?? '',
    HOME: home.path,
    TOLLGATE_DATA_DIR: folder.path,
    TOLLGATE_PID: String(pid),
  }
  const { stdout } = await promisify(execFile)('/bin/sh', ['-c', line], { cwd: ROOT, env })
  return stdout
}

const used = async (url: string): Promise<Record<string, number>> => {
  const admin = adminClient(url, API_KEY)
  const all: Record<string, number> = {}
  for (const id of USERS) {
    const showUsage = await admin.call('showUsage { current { consumption { used } } }', {
      userId: id,
      featureId: 'call',
    })
    all[id] = showUsage.current?.consumption.used ?? 0
  }
  return all
}

it('brings back every call that was answered before the backup began', async () => {
  const [settings = [], backup = [], loss = [], restore = []] = commandsOfDrill()
  expect(settings).toEqual(['export TOLLGATE_DATA_DIR="$HOME/tollgate-data"'])
  expect(restore.at(-1)).toBe('npm start')

  server = await start()
  const { url } = server
  const admin = adminClient(url, API_KEY)
  const app = { id: 'default', admin, dashboard: await signedIn(url, OWNER) }
  await publishPackage(app, 'plan', { call: { limit: 1_000_000, resetPeriod: 'NEVER' } })
  await createUsers(admin, USERS)
  const record = (userId: string) =>
    admin.data(
      'mutation ($userId: String!) { recordUsage(input: { userId: $userId, featureId: "call", delta: 1 }) { recorded } }',
      { userId },
    )
  for (const userId of USERS) {
    await admin.call('subscribe', { userId, packageIds: ['plan'] })
    await record(userId)
  }
  const before = await used(url)
  expect(Object.values(before)).toEqual(USERS.map(() => 1))

  // Callers go on during the backup, and stop when the service is killed.
  let [going, answered] = [true, 0]
  const load = Promise.all(
    USERS.slice(0, 4).map(async (userId) => {
      while (going) {
        await record(userId).then(
          () => answered++,
          () => {},
        )
      }
    }),
  )
  const said: string[] = []
  for (const line of backup) said.push(await run(line, 0))
  const answeredDuring = answered
  going = false
  await load
  const after = await used(url)
  expect(answeredDuring).toBeGreaterThan(0)
  expect(said.join('')).toMatch(
    /Backed up [\d,]+ rows as of \d{4}-.*Z to .*drill\.gz[\s\S]*drill\.gz is valid/,
  )

  for (const line of loss) await run(line, server.process.pid ?? 0)
  await server.kill('SIGKILL')
  expect(await folder.postmaster()).toBe(null)

  for (const line of restore.slice(0, -1)) said.push(await run(line, 0))
  expect(said.join('')).toMatch(/Restored [\d,]+ rows into .*\. All checksums match\./)
  // `npm start` runs what the tests run, in the foreground.
  server = await start()
  const restored = await used(server.url)
  for (const userId of USERS) {
    expect(restored[userId]).toBeGreaterThanOrEqual(before[userId] ?? 0)
    expect(restored[userId]).toBeLessThanOrEqual(after[userId] ?? 0)
  }
  await expect(
    adminClient(server.url, API_KEY).data(
      'mutation { recordUsage(input: { userId: "u0", featureId: "call", delta: 1 }) { recorded } }',
    ),
  ).resolves.toEqual({ recordUsage: { recorded: true } })
})
