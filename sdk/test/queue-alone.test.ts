import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type KeyedEvent, type QueueOptions, Tollgate, type TollgateOptions } from '../src/node.ts'
import { CALL } from './support/call.ts'

// Invariants: the queue goes on sending whatever a hook waits for; hooks are called one after the other; what is closed
// neither sends nor writes.

let up: boolean
let counted: KeyedEvent[]
beforeEach(() => {
  up = false
  counted = []
})

/** The service, as far as the queue needs it. It refuses a negative delta. */
const service: typeof fetch = async (_, init) => {
  if (!up) throw new TypeError('fetch failed')
  const { inputs = [] }: { inputs?: KeyedEvent[] } = JSON.parse(
    JSON.parse(String(init?.body)).variables ?? '{}',
  )
  const extensions = { code: 'BAD_USER_INPUT', status: 400 }
  if (inputs.some(({ delta }) => delta < 0)) return Response.json({ errors: [{ message: 'no', extensions }] })
  counted.push(...inputs)
  const recorded = { recorded: true, reason: null, consumption: null }
  return Response.json({ data: { recordUsages: inputs.map(() => recorded) } })
}

/** Looks by itself so rarely that the tests decide when. */
const queueing = (queue: QueueOptions, options: TollgateOptions = {}) =>
  new Tollgate({ apiKey: 'k', fetch: service, queue: { retryEvery: 3_600_000, ...queue }, ...options })

async function record(tollgate: Tollgate, ...deltas: number[]): Promise<void> {
  for (const delta of deltas) await tollgate.recordUsage({ ...CALL, delta })
}

const many = (length: number) => Array.from({ length }, () => 1)

describe('hooks of the queue', () => {
  it.each(['flush', 'close'] as const)('onSettled may wait for %s', async (method) => {
    const waiting: unknown[] = []
    const tollgate = queueing({ onSettled: async () => waiting.push(await tollgate[method]()) })
    await record(tollgate, ...many(101))
    up = true
    expect(await tollgate.flush()).toEqual({ waiting: 0 })
    expect(waiting).toEqual(many(101).map(() => ({ waiting: 0 })))
    expect(counted).toHaveLength(101)
  })

  it.each(['flush', 'close'] as const)('onError may wait for %s', async (method) => {
    const waiting: unknown[] = []
    const onError = async () => up && waiting.push(await tollgate[method]())
    const tollgate = queueing({}, { onError })
    await record(tollgate, 1, -1, 1)
    up = true
    expect(await tollgate.flush()).toEqual({ waiting: 0 })
    expect(waiting).toEqual([{ waiting: 0 }])
    expect(counted).toHaveLength(2)
  })

  it('are called in order, each when the one before is done; flush waits for them', async () => {
    const calls: string[] = []
    const tollgate = queueing({
      async onSettled({ delta }) {
        calls.push(`begin ${delta}`)
        await new Promise(setImmediate)
        calls.push(`end ${delta}`)
      },
    })
    await record(tollgate, 1, 2, 3)
    up = true
    await tollgate.flush()
    expect(calls).toEqual(['begin 1', 'end 1', 'begin 2', 'end 2', 'begin 3', 'end 3'])
  })

  it('one that never ends does not stop the queue', async () => {
    let called = () => {}
    const isCalled = new Promise<void>((resolve) => {
      called = resolve
    })
    const tollgate = queueing({
      onSettled() {
        called()
        return new Promise(() => {})
      },
    })
    await record(tollgate, 1)
    up = true
    void tollgate.flush()
    await isCalled
    up = false
    await record(tollgate, 2)
    up = true
    expect(await tollgate.close()).toEqual({ waiting: 0 })
    expect(counted.map(({ delta }) => delta)).toEqual([1, 2])
  })
})

describe('close', () => {
  let folder: string
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'tollgate-queue-'))
  })
  afterEach(() => rm(folder, { recursive: true }))
  const onDisk = (queue: QueueOptions = {}) => queueing({ path: join(folder, 'usage.queue'), ...queue })

  it('may be called twice at once; each time the file is free afterwards', async () => {
    const tollgate = onDisk()
    await record(tollgate, 1)
    const reopened = async () => {
      await tollgate.close()
      const next = onDisk()
      expect(await next.close()).toEqual({ waiting: 1 })
    }
    await Promise.all([tollgate.close(), reopened()])
    expect(await readdir(folder)).toEqual(['usage.queue'])
  })

  it('leaves nothing under way, whatever hooks do', async () => {
    const tollgate = onDisk({
      async onSettled() {
        up = false
        await record(tollgate, 2)
        up = true
        void tollgate.flush()
      },
    })
    await record(tollgate, 1)
    up = true
    expect(await tollgate.close()).toEqual({ waiting: 0 })
    expect((await readFile(join(folder, 'usage.queue'), 'utf8')).split('\n')).toHaveLength(2)
    expect(counted).toHaveLength(1)
  })
})
