import { expect } from 'vitest'
import type * as limits from '../../src/domain/limits.ts'
import type { Answer, Client } from '../harness/client.ts'
import type { TestServer } from '../harness/server.ts'

/** What every row may use: a service, its app `default`, and the database. */
export interface World extends TestServer {
  /** an id that nothing has yet */
  fresh(): string
  /** another service, whose clock the rows turn */
  clocked: TestServer
  turnClock(ms: number): void
  /** what that clock says */
  now(): number
  /** deliveries to receivers that take almost as long as they may, and longer */
  slow: Record<
    'within' | 'beyond',
    Promise<{ status?: number | null | undefined; error?: string | null | undefined }>
  >
}

/** A bound: just within it works, just beyond it is refused. */
export interface Bound {
  limit: keyof typeof limits
  what: string
  /** whether it can be tried only where all users are in one place */
  inOnePlace?: true
  works(world: World): Promise<void>
  refused(world: World): Promise<void>
}

/** The bound on one value that a caller sends. */
export function valueBound<Value>(
  limit: Bound['limit'],
  what: string,
  values: { within: Value; beyond: Value },
  call: (world: World, value: Value) => Promise<Answer>,
  says: RegExp,
): Bound {
  return {
    limit,
    what,
    works: async (world) => expectAnswer(await call(world, values.within)),
    refused: async (world) => expectRefusal(await call(world, values.beyond), says),
  }
}

export function expectAnswer(answer: Answer): void {
  expect(answer).toMatchObject({ status: 200, data: expect.anything() })
  expect(answer.errors).toBeUndefined()
}

/** One error with the service's own message: the caller's mistake, naming the bound. */
export function expectRefusal(answer: Answer, says: RegExp): void {
  expect(answer.status).toBe(200)
  expect(answer.errors).toEqual([
    expect.objectContaining({
      message: expect.stringMatching(says),
      extensions: expect.objectContaining({
        code: expect.stringMatching(/^(BAD_USER_INPUT|BAD_REQUEST|GRAPHQL_\w+_FAILED)$/),
        status: 400,
      }),
    }),
  ])
}

/** What `post` answers, with a body of any shape. */
export async function answerTo(client: Client, body: string | Uint8Array<ArrayBuffer>): Promise<Answer> {
  const response = await client.post(body)
  return { status: response.status, ...((await response.json()) as Omit<Answer, 'status'>) }
}

export const CREATE_USER = 'mutation ($input: CreateUserInput!) { createUser(input: $input) { id } }'
export const CREATE_FEATURE = 'mutation ($input: CreateFeatureInput!) { createFeature(input: $input) { id } }'
export const CREATE_PACKAGE = 'mutation ($input: CreatePackageInput!) { createPackage(input: $input) { id } }'
export const RECORD_USAGE = `mutation ($input: CreateUsageEventInput!) {
  recordUsage(input: $input) { recorded reason consumption { used budget } }
}`
