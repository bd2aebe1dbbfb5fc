import { withClient } from '../../bench/postgres.ts'
import { createUsers, type Grant, publishPackage } from '../../server/test/harness/catalogue.ts'
import { type Client, signedIn } from '../../server/test/harness/client.ts'
import type { Trial } from '../trial.ts'
import { OWNER, type ServiceNode } from './node.ts'

/** Budgets small enough to be used up, in one period however long a run takes. */
export const SCARCE_LIMIT = 500

const GRANTS: Record<string, Grant> = {
  call: { resetPeriod: 'NEVER' },
  scarce: { limit: SCARCE_LIMIT, resetPeriod: 'NEVER' },
}

export interface App {
  id: 'default'
  admin: Client
  dashboard: Client
}

/**
 * The app `default` with two base plans that grant an unlimited `call`, a bounded `scarce` and `more`, and users on the first.
 */
export async function furnish(
  node: ServiceNode,
  users: readonly string[],
  more: Record<string, Grant> = {},
): Promise<App> {
  const app: App = { id: 'default', admin: node.admin, dashboard: await signedIn(node.url, OWNER) }
  const grants = { ...GRANTS, ...more }
  await publishPackage(app, 'plan', grants)
  await publishPackage(app, 'other', grants)
  await createUsers(app.admin, users)
  for (const user of users) {
    await app.admin.data('mutation ($id: String!) { subscribe(userId: $id, packageIds: ["plan"]) { id } }', {
      id: user,
    })
  }
  return app
}

/** Breaks the database, if that is the trial's breakage. */
export async function breakDatabase({ breakage }: Trial, url: string): Promise<void> {
  const { sql } = breakage ?? {}
  if (sql) await withClient(url, (client) => client.query(sql))
}

export const named = (letter: string, count: number): string[] =>
  Array.from({ length: count }, (_, i) => `${letter}${i + 1}`)
