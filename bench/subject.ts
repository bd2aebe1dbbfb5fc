import { countingRows } from './ledger.ts'
import type { LoadGenerator, LoadResult } from './load.ts'
import type { Scale } from './options.ts'
import { CHECK, RECORD, type Request, sampleAnswer, verifyAnswers } from './requests.ts'
import type { Database } from './seed.ts'
import { MAIN, type Server, startServer } from './server.ts'

/** A warm server on a seeded database, and a round of load on each of its hot paths. */
export interface Subject {
  server: Server
  database: Database
  check(connections: number): Promise<LoadResult>
  /** `users`: for users 1 to this one; by default all */
  record(connections: number, users?: number): Promise<LoadResult>
}

const WARM_UP_CONNECTIONS = 64
/** Sizes of answers differ by the digits of a number; an error differs by more. */
const SIZE_TOLERANCE = 0.02

export async function startSubject(
  database: Database,
  scale: Scale,
  generator: LoadGenerator,
  env: Record<string, string> = {},
  main = MAIN,
): Promise<Subject> {
  const server = await startServer(database.url, env, main)
  const load = async (
    request: Request,
    users: number,
    connections: number,
    lookAtAnswers: boolean,
  ): Promise<LoadResult> => {
    const seconds = lookAtAnswers ? scale.warmUpSeconds : scale.seconds
    const url = `${server.url}/graphql`
    const { distribution } = scale
    const round = { url, request, upTo: users, distribution, connections, seconds, lookAtAnswers }
    const result = await generator.run(round)
    server.checkLog()
    return result
  }
  await verifyAnswers(server, database.users)
  const usualSize = new Map<Request, number>()
  for (const request of [CHECK, RECORD]) {
    const seen = await load(request, database.users, WARM_UP_CONNECTIONS, true)
    usualSize.set(request, seen.bytesPerAnswer)
  }
  // The first user is the one whose counter becomes hot: it must have one in this period.
  await sampleAnswer(server, RECORD, 1)

  const measure = async (request: Request, users: number, connections: number): Promise<LoadResult> => {
    const result = await load(request, users, connections, false)
    const expected = usualSize.get(request) ?? Number.NaN
    if (!(Math.abs(result.bytesPerAnswer / expected - 1) < SIZE_TOLERANCE)) {
      const sizes = `${result.bytesPerAnswer.toFixed(1)} bytes where right ones have ${expected.toFixed(1)}`
      throw new Error(`the answers are not what they were: ${sizes}`)
    }
    return result
  }
  return {
    server,
    database,
    check: (connections) => measure(CHECK, database.users, connections),
    record: (connections, users = database.users) =>
      countingRows(
        database,
        () => measure(RECORD, users, connections),
        ({ requests, p99 }) => ({ answered: requests, unanswered: connections, lateMs: 2 * p99 }),
      ),
  }
}
