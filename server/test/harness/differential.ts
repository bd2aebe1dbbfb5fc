import { type GraphQLSchema, parse } from 'graphql'
import { compileQuery, isCompiledQuery } from 'graphql-jit'
import { expect } from 'vitest'
import { isCompilable } from '../../src/graphql/engine/compilable.ts'
import type { Answer, Client, Variables } from './client.ts'

const compiled = new WeakMap<GraphQLSchema, Map<string, boolean>>()

/** Whether a repeated document is executed as compiled code. */
export function isCompiled(schema: GraphQLSchema, query: string): boolean {
  const known = compiled.get(schema) ?? new Map<string, boolean>()
  compiled.set(schema, known)
  const before = known.get(query)
  if (before !== undefined) return before
  const document = parse(query)
  const is = isCompilable(schema, document) && isCompiledQuery(compileQuery(schema, document))
  known.set(query, is)
  return is
}

/** The first use of a document whose answer comes from compiled code, if it is compiled at all. */
export const COMPILED_USE = 3

/** Sends the same document `times` times. graphql-js executes the first two. */
async function repeat(
  client: Client,
  query: string,
  variables: (turn: number) => Variables,
  times: number,
): Promise<Answer[]> {
  const answers: Answer[] = []
  for (let turn = 1; turn <= times; turn++) answers.push(await client.ask(query, variables(turn)))
  return answers
}

export const fourTimes = (
  client: Client,
  query: string,
  variables: (turn: number) => Variables,
): Promise<Answer[]> => repeat(client, query, variables, 4)

/** An answer as text, so that the order of keys counts. The order of several errors is arbitrary. */
export function written({ status, data, errors }: Answer | undefined = { status: 0 }): string {
  const sorted = errors?.map((error) => JSON.stringify(error)).sort()
  return JSON.stringify({ status, data, errors: sorted }, null, 1)
}

const alike = (answer: Answer | undefined): string => madeAlike(written(answer))

/** What differs from one turn to the next for good reason, made the same. */
export function madeAlike(text: string): string {
  return text
    .replaceAll(/turn\d/g, 'turn')
    .replaceAll(/\b(sub|key|inv|mig|we|bulk)_[0-9a-f-]{36}/g, '$1')
    .replaceAll(/\bevt_[0-9a-f]{32}/g, 'evt')
    .replaceAll(/\bwhsec_[\w+/=]+/g, 'whsec')
    .replaceAll(/\bprice_[0-9a-f]{14}/g, 'price')
    .replaceAll(/\btg_[\w-]+/g, 'tg')
    .replaceAll(/"id": "[\w-]{16}"/g, '"id": "token key"')
    .replaceAll(/"id": "\d+"/g, '"id": "number"')
    .replaceAll(/token=[\w-]+/g, 'token')
    .replaceAll(/\bcs_sandbox_[\w-]+/g, 'cs')
    .replaceAll(/\beyJ[\w.-]+/g, 'jwt')
    .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'time')
}

/** Expects compiled code to answer as graphql-js does; returns its answer. */
export async function expectAlike(
  client: Client,
  query: string,
  variables: (turn: number) => Variables = () => ({}),
): Promise<Answer> {
  const [, interpreted, compiled] = await repeat(client, query, variables, COMPILED_USE)
  expect(alike(compiled)).toBe(alike(interpreted))
  return compiled as Answer
}
