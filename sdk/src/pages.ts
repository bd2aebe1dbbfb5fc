import { refused } from './arguments.ts'
import type { Paging } from './call-arguments.ts'
import type { Result } from './types.ts'

const PAGE_SIZE = 100

/** Options for iterating over a list page by page. */
export interface PageSize {
  /** Number of items per page. @default 100 */
  pageSize?: number | undefined
}

/**
 * A whole list, read while it is iterated over. If a page fails, its error is thrown: an iterator has no other way to
 * report it.
 */
export async function* entriesOf<Entry extends { id: string }>(
  args: PageSize | undefined,
  read: (page: Paging) => Promise<Result<Entry[]>>,
): AsyncGenerator<Entry, void, undefined> {
  const { pageSize: first = PAGE_SIZE } = args ?? {}
  if (!Number.isSafeInteger(first) || first < 1)
    throw refused('pageSize', 'pageSize must be a positive integer', first)
  let after: string | undefined
  for (;;) {
    const { data, error } = await read({ first, after })
    if (error) throw error
    yield* data
    if (data.length < first) return
    after = data.at(-1)?.id
  }
}
