import { type GraphQLSchema, parse } from 'graphql'
import { compileQuery, isCompiledQuery } from 'graphql-jit'
import { isCompilable } from '../../src/graphql/compilable.ts'
import type { Answer, Client, Variables } from './client.ts'

/** Whether a document that keeps coming is executed as compiled code. */
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

/** An answer as text, so that the order of keys counts. Which of several errors comes first is a matter of luck. */
export function written({ status, data, errors }: Answer | undefined = { status: 0 }): string {
  const sorted = errors?.map((error) => JSON.stringify(error)).sort()
  return JSON.stringify({ status, data, errors: sorted }, null, 1)
}
