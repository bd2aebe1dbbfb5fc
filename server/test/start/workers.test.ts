import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { request } from 'node:http'
import type { Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { StartError } from '../../src/domain/errors.ts'
import { readConfig } from '../../src/settings/config.ts'
import type { Answer } from '../harness/client.ts'
import { createDatabase, rowsOf } from '../harness/database.ts'
import { PATIENCE_MS } from '../harness/patience.ts'
import { openSocket } from '../harness/raw.ts'
import { API_KEY, refusedStart, type ServerProcess, spawnServer } from '../harness/server.ts'
import { usedDataFolder } from '../harness/used-data.ts'

const cleanups: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup()
})

async function start(env: Record<string, string>): Promise<ServerProcess> {
  const server = await spawnServer({ TOLLGATE_WORKERS: '2', TOLLGATE_LOG_LEVEL: 'error', ...env })
  const children = await workersOf(server)
  cleanups.push(async () => {
    await server.kill('SIGKILL')
    await until(async () => (await living(children)).length === 0)
  })
  return server
}

async function startOnDatabase(env: Record<string, string> = {}): Promise<ServerProcess> {
  const database = await createDatabase()
  cleanups.push(database.drop)
  return start({ DATABASE_URL: database.url, ...env })
}

async function until(condition: () => Promise<boolean>): Promise<void> {
  while (!(await condition())) await sleep(50)
}

/** The processes that another one has started. */
async function childrenOf(pid: number | undefined): Promise<number[]> {
  const { stdout } = await promisify(execFile)('ps', ['-A', '-o', 'pid=,ppid=,command='])
  return stdout.split('\n').flatMap((line) => {
    const [child, parent, ...command] = line.trim().split(/\s+/)
    const ours = Number(parent) === pid && command.some((word) => word.endsWith('main.js'))
    return ours ? [Number(child)] : []
  })
}

const workersOf = (server: ServerProcess) => childrenOf(server.process.pid)

async function living(pids: readonly number[]): Promise<number[]> {
  return pids.filter((pid) => {
    try {
      return process.kill(pid, 0)
    } catch {
      return false
    }
  })
}

interface Answered {
  /** the start of the request ids of the process that answered */
  by: string
  body: Pick<Answer, 'data' | 'errors'>
}

/** Asks on a connection of its own, so that any of the processes may get it. */
async function ask({ url }: ServerProcess, query: string, key = API_KEY): Promise<Answered> {
  const asked = request(`${url}/graphql`, {
    agent: false,
    method: 'POST',
    headers: { Authorization: key, 'Content-Type': 'application/json' },
  })
  asked.end(JSON.stringify({ query }))
  const [response] = await once(asked, 'response')
  let text = ''
  for await (const chunk of response.setEncoding('utf8')) text += chunk
  const [by = ''] = String(response.headers['x-request-id']).split('-')
  return { by, body: JSON.parse(text) }
}

async function answerers(server: ServerProcess, key = API_KEY): Promise<Set<string>> {
  const found = new Set<string>()
  for (let i = 0; i < 12; i++) {
    const { by, body } = await ask(server, '{ packages { id } }', key)
    expect(body).toEqual({ data: { packages: [] } })
    found.add(by)
  }
  return found
}

describe('TOLLGATE_WORKERS=2', () => {
  it('gap: workers: both answer behind one port, with one embedded PostgreSQL and one key, shown once; SIGTERM ends all', async () => {
    const folder = await usedDataFolder()
    cleanups.push(folder.remove)
    const server = await start({ TOLLGATE_DATA_DIR: folder.path, TOLLGATE_API_KEY: '' })
    const workers = await workersOf(server)
    expect(workers).toHaveLength(2)

    const keys = [...server.output().matchAll(/^export TOLLGATE_API_KEY=(\S+)$/gm)].map(([, key]) => key)
    expect(keys).toHaveLength(1)
    expect((await answerers(server, keys[0])).size).toBe(2)

    expect(await server.kill('SIGTERM')).toBe(0)
    expect(await living(workers)).toEqual([])
    expect(await folder.postmaster()).toBeNull()
    await expect(ask(server, '{ packages { id } }')).rejects.toThrow('ECONNREFUSED')
  })

  it('gap: workers: what one has recorded the other sees; one that dies is replaced; none is left when the process that keeps them is killed', async () => {
    const server = await startOnDatabase()
    const answered = new Set<string>()
    for (let i = 0; i < 10; i++) {
      const { by, body } = await ask(server, `mutation { createUser(input: { id: "u${i}" }) { id } }`)
      expect(body.errors).toBeUndefined()
      const next = await ask(server, `{ user(id: "u${i}") { id } }`)
      expect(next.body.data).toEqual({ user: { id: `u${i}` } })
      answered.add(by).add(next.by)
    }
    expect(answered.size).toBe(2)

    const before = await workersOf(server)
    const [victim = 0] = before
    process.kill(victim, 'SIGKILL')
    await until(async () => server.output().includes('a worker died'))
    expect([...(await answerers(server))].filter((by) => answered.has(by))).toHaveLength(1)
    await until(async () => (await answerers(server)).size === 2)
    const after = await workersOf(server)
    expect(after).toHaveLength(2)
    expect(after).not.toContain(victim)
    expect(after.filter((pid) => before.includes(pid))).toHaveLength(1)

    await server.kill('SIGKILL')
    await until(async () => (await living(after)).length === 0)
    await expect(ask(server, '{ packages { id } }')).rejects.toThrow('ECONNREFUSED')
  })

  it('gap: workers: one that takes the place of another neither brings back a revoked key nor minds it', async () => {
    const database = await createDatabase()
    cleanups.push(database.drop)
    const server = await start({ DATABASE_URL: database.url })
    const other = 'tg_a_key_beside_the_environment'
    await rowsOf(
      { connectionString: database.url },
      `with revoked as (update api_key set revoked_at = now() where id = 'environment'),
         added as (insert into api_key (app_id, id, name, prefix, hash)
           values ('default', 'other', 'Other', 'tg', sha256('${other}')))
       update app set version = version + 1 where id = 'default'`,
    )
    const [victim = 0] = await workersOf(server)
    process.kill(victim, 'SIGKILL')
    await until(async () => server.output().includes('a worker died'))
    await until(async () => (await answerers(server, other)).size === 2)
    expect((await ask(server, '{ packages { id } }')).body.errors).toMatchObject([
      { extensions: { code: 'UNAUTHENTICATED' } },
    ])
  })

  it('gap: workers: one that dies with a connection on its way to it leaves no client waiting', async () => {
    const server = await startOnDatabase()
    const [victim = 0] = await workersOf(server)
    process.kill(victim, 'SIGSTOP')
    const waiting = new Set<Socket>()
    const opened = await Promise.all(Array.from({ length: 6 }, () => openSocket(server.url)))
    for (const socket of opened) {
      waiting.add(socket)
      socket.once('data', () => waiting.delete(socket)).once('close', () => waiting.delete(socket))
      socket.write('GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n')
    }
    // The other one answers everything except what was given to the stopped one.
    await vi.waitFor(() => expect(waiting.size).toBe(1), PATIENCE_MS)
    process.kill(victim, 'SIGKILL')
    await vi.waitFor(() => expect(waiting.size).toBe(0), PATIENCE_MS)
    for (const socket of opened) socket.destroy()
  })

  it('gap: workers: one that is stuck when it is to stop is killed after the time it may take', async () => {
    const server = await startOnDatabase({ TOLLGATE_GRACE_MS: '200' })
    const workers = await workersOf(server)
    process.kill(workers[0] ?? 0, 'SIGSTOP')
    expect(await server.kill('SIGTERM')).toBe(0)
    expect(await living(workers)).toEqual([])
  })

  it('gap: workers: what keeps all of them from starting is said in one line', async () => {
    const { code, stderr } = await refusedStart({
      DATABASE_URL: 'postgresql://nobody@127.0.0.1:1/none',
      TOLLGATE_WORKERS: '2',
    })
    expect(code).toBe(1)
    expect(stderr).toMatch(/^tollgate: The database is unreachable: .*\n$/)
  })
})

it.each([
  '0',
  '65',
  '-1',
  '1.5',
  '2e1',
  'two',
])('gap: workers: TOLLGATE_WORKERS=%s is refused in one line', (workers) => {
  expect(() => readConfig({ TOLLGATE_WORKERS: workers })).toThrow(
    new StartError(`TOLLGATE_WORKERS must be a number from 1 to 64; it is "${workers}".`),
  )
})
