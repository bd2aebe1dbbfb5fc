import { type Measurement, megabytes, milliseconds, type Pair, tellRound } from '../pair.ts'
import type { Memory } from '../processes.ts'
import { compare, interleave, median } from '../rounds.ts'
import type { Subject } from '../subject.ts'

const CONNECTIONS = 64

export const growth: Pair = {
  name: 'growth',
  claims: [
    {
      name: 'growth p99',
      what: 'p99 of canUseFeature at the most users (5 million; --quick: 100,000) ÷ at 10,000, 64 connections',
      bound: '≤',
      must: 1.5,
      aim: 1.1,
    },
    {
      name: 'growth memory',
      what: 'peak resident memory of the server at the most users, after checks and records',
      bound: '≤',
      must: 250,
      aim: 150,
      unit: 'MB',
    },
  ],
  async run({ scale, database, start }) {
    const subjects: Subject[] = []
    for (const users of scale.sizes) subjects.push(await start(await database(users)))
    const [smallest, largest] = [subjects[0], subjects.at(-1)]
    if (!smallest || !largest) throw new Error('there is no size to measure at')

    const rounds = await interleave(
      scale.rounds,
      Object.fromEntries(subjects.map((s) => [label(s), () => s.check(CONNECTIONS)])),
      tellRound,
    )
    const p99s = (subject: Subject) => (rounds[label(subject)] ?? []).map((r) => r.p99)
    const points: string[] = []
    let memory: Memory | null = null
    for (const subject of subjects) {
      await subject.record(CONNECTIONS)
      memory = await subject.server.memory()
      const resident = memory ? `, ${Math.round(memory.peak)} MB` : ''
      points.push(`${label(subject)}: p99 ${median(p99s(subject)).toFixed(2)} ms${resident}`)
      await subject.server.stop()
    }
    const { a, b, ratio, range } = compare(p99s(largest), p99s(smallest))
    const p50 = median((rounds[label(largest)] ?? []).map((r) => r.p50))
    const p99: Measurement = {
      a: milliseconds(a),
      b: milliseconds(b),
      value: ratio,
      range,
      p50,
      p99: a,
      note: points.join('; '),
    }
    return [
      p99,
      memory
        ? { a: megabytes(memory.peak), b: null, value: memory.peak, note: `at ${label(largest)}` }
        : 'memory is read from /proc, which Linux alone has',
    ]
  },
}

const label = ({ database }: Subject): string => `${database.users.toLocaleString('en')} users`
