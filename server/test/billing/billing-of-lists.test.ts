import { expect, it } from 'vitest'
import type { Data } from '../harness/client.ts'
import { startTestServer } from '../harness/server.ts'
import { shared } from '../harness/shared.ts'
import { watchStatements } from '../harness/statements.ts'
import { openSandboxShop } from './sandbox-shop.ts'

const server = shared(startTestServer)

it('gap: statements: the billing of a list of subscriptions is read at once', async () => {
  const shop = await openSandboxShop(server)
  await shop.buy('both')
  for (let i = 0; i < 3; i++) await shop.buy('pro', null)
  let reads = 0
  const stop = watchStatements(({ text }) => {
    if (/from provider_subscription|join provider_subscription/.test(text)) reads++
    return undefined
  })
  const subscriptions = await server.dashboard.call(
    'subscriptions { rows { userId package { id } billing { provider ref status } } }',
    { appId: shop.id },
  )
  stop()
  const rows: Data[] = subscriptions.rows
  expect(reads).toBe(1)
  expect(rows.map((row) => row.billing.status)).toEqual(rows.map(() => 'active'))
  const billOf = (userId: string) =>
    new Set(rows.filter((row) => row.userId === userId).map((row) => row.billing.ref))
  const payers = [...new Set(rows.map((row) => row.userId))]
  expect(payers).toHaveLength(4)
  // The plan and its add-on stand on one bill; nobody else's is on it.
  expect(payers.map((userId) => billOf(userId).size)).toEqual([1, 1, 1, 1])
  expect(new Set(rows.map((row) => row.billing.ref)).size).toBe(4)
})
