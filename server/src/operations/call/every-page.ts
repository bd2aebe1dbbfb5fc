import { MAX_PAGE } from '../../domain/limits.ts'
import type { KeyedPage } from './pages.ts'
import type { Page } from './paging.ts'

/** All rows of a list, one page after the other. A page is read once the previous one has been consumed. */
export async function* everyPage<Row>(
  read: (page: Page) => Promise<KeyedPage<Row>>,
  size = MAX_PAGE,
): AsyncGenerator<readonly Row[]> {
  for (let next: string | null = null, first = true; first || next !== null; first = false) {
    const page: KeyedPage<Row> = await read({ first: size, after: next })
    if (page.rows.length > 0) yield page.rows
    next = page.next
  }
}
