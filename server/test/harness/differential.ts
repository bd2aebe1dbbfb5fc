import { type GraphQLSchema, parse } from 'graphql'
import { compileQuery, isCompiledQuery } from 'graphql-jit'
import { expect } from 'vitest'
import { isCompilable } from '../../src/graphql/engine/compilable.ts'
import type { Answer, Client, Variables } from './client.ts'

/** Whether a repeated document is executed as compiled code. */
export function isCompiled(schema: GraphQLSchema, query: string): boolean {
  const document = parse(query)
  return isCompilable(schema, document) && isCompiledQuery(compileQuery(schema, document))
}

/**
 * Asks the same four times: the first two are executed by graphql-js, the others as compiled code where the
 * document is compiled at all.
 */
export async function fourTimes(
  client: Client,
  query: string,
  variables: (turn: number) => Variables,
): Promise<Answer[]> {
  const answers: Answer[] = []
  for (let turn = 1; turn <= 4; turn++) answers.push(await client.ask(query, variables(turn)))
  return answers
}

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
    .replaceAll(/\b(sub|key|inv|mig|we)_[0-9a-f-]{36}/g, '$1')
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

/** Expects compiled code to answer as graphql-js does; returns what it answered. */
export async function expectAlike(
  client: Client,
  query: string,
  variables: (turn: number) => Variables = () => ({}),
): Promise<Answer> {
  const answers = await fourTimes(client, query, variables)
  const [, second, , fourth] = answers.map(alike)
  expect(fourth).toBe(second)
  return answers[3] as Answer
}
