import type { Package } from '../../domain/package.ts'
import type { ListedUser } from '../../store/users/search-users.ts'
import type { Call } from '../call/call.ts'
import { everyPage } from '../call/every-page.ts'
import { mutate } from '../call/mutate.ts'
import type { PackageSubscription } from '../subscriptions/subscriptions.ts'
import { listedPage, type UsersAsked } from './list-users.ts'

export interface ExportedUser extends ListedUser {
  held: Package[]
  subscription: PackageSubscription | null
}

/** All users of the filtered list, in its order. The export itself is in the audit log. */
export async function exportUsers(
  call: Call,
  asked: UsersAsked,
): Promise<AsyncIterable<readonly ExportedUser[]>> {
  // A wrong filter is refused before the file begins.
  await listedPage(call, asked, { first: 1 })
  await mutate(call, async () => true)
  return everyPage(async (page) => {
    const { rows, next } = await listedPage(call, asked, page)
    const exported = rows.map(async (row) => ({
      ...row,
      held: await row.packages(),
      subscription: await row.plan(),
    }))
    return { rows: await Promise.all(exported), next }
  })
}
