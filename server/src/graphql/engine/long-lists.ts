import {
  type DocumentNode,
  type ExecutionResult,
  type GraphQLResolveInfo,
  type GraphQLSchema,
  Kind,
} from 'graphql'
import type { Chunk, Cursor } from '../../operations/call/paging.ts'
import { Executable } from './executable.ts'

/**
 * Lists that may be too long for memory. The first execution of an operation returns the beginning of such a list; the
 * rest is executed in chunks, for that field only, while the response is being sent.
 */
export class LongLists {
  readonly #resume: Cursor | null
  /** Made for the first one: nearly every request has none. */
  #unfinished: Map<string, { document: DocumentNode; cursor: Cursor }> | null = null

  constructor(resume: Cursor | null = null) {
    this.#resume = resume
  }

  /** For a resolver of a top-level list field. */
  async read<Row>(
    info: GraphQLResolveInfo,
    read: (cursor: Cursor | null) => Promise<Chunk<Row>>,
  ): Promise<Row[]> {
    const { rows, next } = await read(this.#resume)
    if (next) {
      this.#unfinished ??= new Map()
      this.#unfinished.set(String(info.path.key), { document: documentOf(info), cursor: next })
    }
    return rows
  }

  get unfinished(): boolean {
    return this.#unfinished !== null
  }

  /** The rest of the list under this response name, in chunks of executed rows. */
  async *rest(
    name: string,
    schema: GraphQLSchema,
    context: object,
    variables: Record<string, unknown>,
  ): AsyncGenerator<unknown[]> {
    const list = this.#unfinished?.get(name)
    if (!list) return
    const executable = new Executable(schema, list.document)
    let cursor: Cursor | undefined = list.cursor
    while (cursor) {
      const lists: LongLists = new LongLists(cursor)
      const result: ExecutionResult = await executable.run({ ...context, lists }, variables, null)
      if (result.errors) throw result.errors[0]
      yield result.data?.[name] as unknown[]
      cursor = lists.#unfinished?.get(name)?.cursor
    }
  }
}

/** The operation reduced to one of its top-level fields. */
function documentOf({ operation, fieldNodes, fragments }: GraphQLResolveInfo): DocumentNode {
  return {
    kind: Kind.DOCUMENT,
    definitions: [
      { ...operation, selectionSet: { kind: Kind.SELECTION_SET, selections: fieldNodes } },
      ...Object.values(fragments).filter((fragment) => fragment !== undefined),
    ],
  }
}
