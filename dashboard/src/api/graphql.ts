import type { initGraphQLTada, ResultOf, VariablesOf } from 'gql.tada'
import type { introspection } from './schema.d.ts'

interface Setup {
  introspection: introspection
  disableMasking: true
  scalars: { JSON: Record<string, unknown>; SafeInt: number }
}

type Tada = ReturnType<typeof initGraphQLTada<Setup>>

/** A document, typed by the schema. It stays text: only the server needs to parse it. */
export const graphql = ((text: string, fragments: string[] = []) =>
  [text, ...fragments].join('\n')) as unknown as Tada

export type { ResultOf, VariablesOf }
