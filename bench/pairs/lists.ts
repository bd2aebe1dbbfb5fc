import { megabytes, milliseconds, type Pair, tellRound } from '../pair.ts'
import { compare, interleave, median } from '../rounds.ts'
import type { Server } from '../server.ts'
import type { Subject } from '../subject.ts'

const CONNECTIONS = 64

export const lists: Pair = {
  name: 'lists',
  claims: [
    {
      name: 'lists p99',
      what: 'p99 of canUseFeature while the same process answers `users` whole (1 million; --quick: 100,000), again and again ÷ p99 without, 64 connections',
      bound: '≤',
      must: 3,
      aim: null,
    },
    {
      name: 'lists memory',
      what: 'peak resident memory of the server meanwhile',
      bound: '≤',
      must: 400,
      aim: null,
      unit: 'MB',
    },
  ],
  async run({ scale, database, start }) {
    const subject = await start(await database(scale.users))
    // Warm-up: the first lists take longer.
    await besideLists(subject, [])
    const took: number[] = []
    const rounds = await interleave(
      scale.rounds,
      {
        'beside a list': () => besideLists(subject, took),
        alone: () => subject.check(CONNECTIONS),
      },
      tellRound,
    )
    const memory = await subject.server.memory()
    await subject.server.stop()
    const p99s = { a: rounds['beside a list'].map((r) => r.p99), b: rounds.alone.map((r) => r.p99) }
    const { a, b, ratio, range } = compare(p99s.a, p99s.b)
    const note = `a list of ${subject.database.users.toLocaleString('en')} users took ${(median(took) / 1e3).toFixed(1)} s`
    return [
      {
        a: milliseconds(a),
        b: milliseconds(b),
        value: ratio,
        range,
        p50: median(rounds['beside a list'].map((r) => r.p50)),
        p99: a,
        note,
      },
      memory
        ? { a: megabytes(memory.peak), b: null, value: memory.peak }
        : 'memory is read from /proc, which Linux alone has',
    ]
  },
}

/** Checks while lists are read, one after the other; the last one is read to its end. */
async function besideLists({ server, database, check }: Subject, took: number[]) {
  let over = false
  const checks = check(CONNECTIONS).finally(() => {
    over = true
  })
  const reading = (async () => {
    while (!over) took.push(await readList(server, database.users))
  })()
  const [result] = await Promise.all([checks, reading])
  return result
}

/** Reads all users and throws them away. Returns the milliseconds it took. */
async function readList({ admin }: Server, users: number): Promise<number> {
  const began = performance.now()
  const response = await admin.post(JSON.stringify({ query: '{ users { id name email } }' }))
  let objects = 0
  let end = ''
  for await (const chunk of response.body ?? []) {
    const bytes = Buffer.from(chunk)
    for (let at = bytes.indexOf('{'); at !== -1; at = bytes.indexOf('{', at + 1)) objects++
    end = (end + bytes.subarray(-3).toString()).slice(-3)
  }
  // One brace for each user, and two around them.
  if (response.status !== 200 || objects !== users + 2 || end !== ']}}') {
    throw new Error(`the list of ${users} users had ${objects} objects and ended with ${end}`)
  }
  return performance.now() - began
}
