import { type App, furnish, SCARCE_LIMIT } from './app.ts'
import type { ServiceNode } from './node.ts'

/** Features whose units are scarce, and what both plans grant of them. `token` is a pool of the other two. */
export type Spendable = 'scarce' | 'token' | 'image'
export const BUDGETS: Readonly<Record<Spendable, number>> = { scarce: SCARCE_LIMIT, token: 900, image: 0 }
export const COSTS = { scarce: 3, image: 7 }

/** Every user's own cap of a feature, without entities: what the plan pays for does not reach it, what credits add does. */
export const USER_CAPS: Readonly<Partial<Record<Spendable, number>>> = { scarce: 650, token: 800 }

/** Entities that all workers of a user name, beside an agent of each worker; one of them has no cap. */
const SHARED_CAPS = [
  { entity: 'team:1', period: 'NEVER', limit: 400 },
  { entity: 'site:1', period: 'DAY', limit: 450 },
] as const
export const SHARED_ENTITIES = [...SHARED_CAPS.map(({ entity }) => entity), 'model:1']
/** The workers change the limit of their agent. */
export const AGENT_LIMITS = [150, 200]
export const agentOf = (worker: number): string => `agent:${worker}`

/** The app of the scenario `spending`: a pool with costs, and caps of every user. */
export async function furnishSpending(node: ServiceNode, users: readonly string[]): Promise<App> {
  const app = await furnish(node, users, { token: { limit: BUDGETS.token, resetPeriod: 'NEVER' } })
  const { admin } = app
  await admin.call('createFeature', { input: { id: 'image', name: 'image', type: 'CONSUMABLE' } })
  const costs = Object.entries(COSTS).map(([featureId, cost]) => ({ featureId, cost }))
  await admin.call('updateFeature', { id: 'token', input: { costs } })
  const setCap = (input: Record<string, unknown>) => admin.call('setCap', { input })
  for (const userId of users) {
    for (const [featureId, limit] of Object.entries(USER_CAPS))
      await setCap({ userId, featureId, period: 'NEVER', limit })
    for (const cap of SHARED_CAPS) await setCap({ userId, featureId: 'scarce', ...cap })
  }
  return app
}
