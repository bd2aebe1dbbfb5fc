import type { Call } from './call.ts'
import { everyPage } from './every-page.ts'
import { mutate } from './mutate.ts'
import type { KeyedPage } from './pages.ts'
import type { Page } from './paging.ts'

/** All rows of a filtered list, in its order. The export itself is in the audit log. */
export async function exportList<Row>(
  call: Call,
  read: (page: Page) => Promise<KeyedPage<Row>>,
  pageSize?: number,
): Promise<AsyncIterable<readonly Row[]>> {
  // A wrong filter is refused before the file begins.
  await read({ first: 1 })
  await mutate(call, async () => true)
  return everyPage(read, pageSize)
}
