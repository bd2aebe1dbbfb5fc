import { once } from 'node:events'
import {
  appendFile,
  mkdtemp,
  open as openFile,
  readdir,
  readFile,
  rm,
  stat,
  writeFile,
} from 'node:fs/promises'
import { hostname, tmpdir } from 'node:os'
import { join } from 'node:path'
import { Worker } from 'node:worker_threads'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { builtScript } from '../../server/test/harness/scripts.ts'
import { startTestServer } from '../../server/test/harness/server.ts'
import { shared } from '../../server/test/harness/shared.ts'
import type { QueueOptions, Tollgate } from '../src/node.ts'
import { CALL, type SdkApp, sdkApp } from './support/app.ts'
import { FaultyProxy } from './support/faulty-proxy.ts'
import { type QueueProcess, queueProcess } from './support/queue-process.ts'

// Invariants: an event that was answered with `queued` survives the process; whichever process sends it, and however
// often, it is counted once; a file that is not a queue is never touched.

const server = shared(startTestServer)
let app: SdkApp
let proxy: FaultyProxy
let folder: string
let path: string
let open: Tollgate[]
let processes: QueueProcess[]
beforeEach(async () => {
  app = await sdkApp(server)
  proxy = await FaultyProxy.before(server.url)
  folder = await mkdtemp(join(tmpdir(), 'tollgate-queue-'))
  path = join(folder, 'usage.queue')
  open = []
  processes = []
})
afterEach(async () => {
  for (const one of processes) await one.kill()
  await proxy.close()
  for (const tollgate of open) await tollgate.close()
  await rm(folder, { recursive: true, force: true })
})

/** Looks by itself so rarely that the tests decide when. */
function queueing(queue: QueueOptions = {}): Tollgate {
  const tollgate = app.tollgate({ baseUrl: proxy.url, queue: { path, retryEvery: 3_600_000, ...queue } })
  open.push(tollgate)
  return tollgate
}

function start(records = 0): QueueProcess {
  const started = queueProcess({
    TOLLGATE_API_KEY: app.apiKey,
    TOLLGATE_URL: proxy.url,
    QUEUE_PATH: path,
    RECORDS: String(records),
  })
  processes.push(started)
  return started
}

async function queued(count: number): Promise<Tollgate> {
  proxy.down()
  const tollgate = queueing()
  // Behind the first one, the others need no connection.
  await tollgate.recordUsage(CALL)
  await Promise.all(Array.from({ length: count - 1 }, () => tollgate.recordUsage(CALL)))
  return tollgate
}

const HEADER = '{"tollgate":"usage-queue","version":1}\n'

describe('a queue on disk', () => {
  it('the process killed while the service is down, the next one while it sends: nothing lost, nothing doubled', async () => {
    proxy.down()
    const first = start(250)
    await first.printed('ready')
    expect(first.count('queued')).toBe(250)
    await first.kill()

    // Killed when the server has counted the second hundred, before it hears of it.
    let replies = 0
    proxy.fate = () => {
      if (++replies < 3) return 'pass'
      second.process.kill('SIGKILL')
      return 'cut'
    }
    proxy.up(server.url)
    const second = start()
    await second.gone
    expect(await app.ledger()).toEqual({ records: 200, sum: 200 })

    proxy.fate = () => 'pass'
    expect(await queueing().flush()).toEqual({ waiting: 0 })
    expect(await app.ledger()).toEqual({ records: 250, sum: 250 })
    await open[0]?.close()
    expect(await queueing().flush()).toEqual({ waiting: 0 })
    expect(await app.ledger()).toEqual({ records: 250, sum: 250 })
  })

  it('killed while it writes: whatever was answered is there', async () => {
    proxy.down()
    const writer = start(1_000_000)
    await writer.printed('queued', 100)
    await writer.kill()
    const answered = writer.count('queued')
    proxy.up(server.url)
    expect(await queueing({ max: 1_000_000 }).flush()).toEqual({ waiting: 0 })
    const { records, sum } = await app.ledger()
    expect(sum).toBe(records)
    expect(records).toBeGreaterThanOrEqual(answered)
  })

  it('half a line at the end, never acknowledged, is dropped', async () => {
    await (await queued(3)).close()
    await appendFile(path, '{"put":{"input":{"userId":"ann"')
    proxy.up(server.url)
    expect(await queueing().flush()).toEqual({ waiting: 0 })
    expect(await app.ledger()).toEqual({ records: 3, sum: 3 })
  })

  it('is rewritten when nothing waits, readable only by its owner, and leaves nothing else behind', async () => {
    const tollgate = await queued(250)
    expect((await readFile(path, 'utf8')).split('\n')).toHaveLength(252)
    proxy.up(server.url)
    await tollgate.flush()
    expect(await readFile(path, 'utf8')).toBe(HEADER)
    expect((await stat(path)).mode & 0o777).toBe(0o600)
    await tollgate.close()
    expect(await readdir(folder)).toEqual(['usage.queue'])
  })

  it('is rewritten now and then while events wait', async () => {
    const tollgate = await queued(1_500)
    let replies = 0
    proxy.fate = () => (++replies <= 12 ? 'pass' : 'cut')
    proxy.up(server.url)
    expect(await tollgate.flush()).toEqual({ waiting: 400 })
    // A thousand and more were settled: their lines are gone.
    expect((await readFile(path, 'utf8')).split('\n').length).toBeLessThan(1_000)
    proxy.fate = () => 'pass'
    await tollgate.close()
    expect(await app.ledger()).toEqual({ records: 1_500, sum: 1_500 })
  })

  it('belongs to one client at a time', async () => {
    const holder = queueing()
    expect(() => queueing()).toThrow(/in use by this process/)
    await holder.close()
    expect(await queueing().flush()).toEqual({ waiting: 0 })
  })

  it('belongs to one client at a time, also where the package is loaded twice', async () => {
    queueing()
    const copy = '../src/outage/file-lock.ts?copy'
    const { lockFile }: typeof import('../src/outage/file-lock.ts') = await import(copy)
    expect(() => lockFile(path)).toThrow(/in use by this process/)
  })

  it('belongs to one process at a time, until that one is gone', async () => {
    const holder = start()
    await holder.printed('ready')
    expect(() => queueing()).toThrow(`in use by process ${holder.process.pid}`)
    await holder.kill()
    expect(await queueing().flush()).toEqual({ waiting: 0 })
  })

  it('belongs to one thread at a time, until that one is gone', async () => {
    const env = { TOLLGATE_API_KEY: app.apiKey, TOLLGATE_URL: proxy.url, QUEUE_PATH: path }
    const thread = () => new Worker(builtScript('queue-process'), { env, stdout: true })
    const holder = thread()
    // It says that it is ready.
    await once(holder.stdout, 'data')
    expect(() => queueing()).toThrow(/in use by this process/)
    const [error] = await once(thread(), 'error')
    expect(String(error)).toMatch(/in use by this process/)
    await holder.terminate()
    expect(await queueing().flush()).toEqual({ waiting: 0 })
  })

  it('a lock that an earlier process with the same pid has left is taken over', async () => {
    const earlier = { pid: process.pid, host: hostname(), started: null, fd: 0, id: '' }
    await writeFile(`${path}.lock`, JSON.stringify(earlier))
    expect(await queueing().flush()).toEqual({ waiting: 0 })
  })

  it('a lock of another machine is respected', async () => {
    await writeFile(
      `${path}.lock`,
      JSON.stringify({ pid: 1, host: 'elsewhere', started: null, fd: 3, id: '' }),
    )
    expect(() => queueing()).toThrow(/elsewhere.*remove/)
  })

  it.each([
    ['another file', 'my notes\n', /not a usage queue/],
    ['another file without a line end', 'my notes', /not a usage queue/],
    ['a damaged queue', `${HEADER}{"put":\n{"done":1}\n`, /damaged in line 2/],
  ])('%s is refused and left as it is', async (_, content, message) => {
    await writeFile(path, content)
    expect(() => queueing()).toThrow(message)
    expect(await readFile(path, 'utf8')).toBe(content)
    expect(await readdir(folder)).toEqual(['usage.queue'])
  })

  it('a disk that fails is an error, not a promise', async () => {
    const tollgate = queueing()
    await rm(folder, { recursive: true })
    proxy.down()
    expect((await tollgate.recordUsage(CALL)).error).toMatchObject({
      name: 'NetworkError',
      code: 'QUEUE_FAILED',
    })
    expect(await tollgate.flush()).toEqual({ waiting: 0 })
  })

  it('a write that fails leaves nothing behind, and the next one is whole', async () => {
    const tollgate = await queued(1)
    const before = await readFile(path, 'utf8')
    const handle = await openFile(path)
    const sync = vi.spyOn(Object.getPrototypeOf(handle), 'datasync')
    await handle.close()
    sync.mockRejectedValueOnce(new Error('no space left on device'))
    expect((await tollgate.recordUsage(CALL)).error).toMatchObject({ code: 'QUEUE_FAILED' })
    sync.mockRestore()
    expect(await readFile(path, 'utf8')).toBe(before)
    expect((await tollgate.recordUsage({ ...CALL, delta: 2 })).data).toMatchObject({ queued: true })
    await tollgate.close()
    proxy.up(server.url)
    expect(await queueing().flush()).toEqual({ waiting: 0 })
    expect(await app.ledger()).toEqual({ records: 2, sum: 3 })
  })
})
