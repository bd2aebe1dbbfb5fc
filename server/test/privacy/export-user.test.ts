import { beforeAll, describe, expect, it } from 'vitest'
import { jobsDone } from '../billing/jobs-done.ts'
import { openSandboxShop, type SandboxShop } from '../billing/sandbox-shop.ts'
import type { Data } from '../harness/client.ts'
import { tablesWith } from '../harness/dump.ts'
import { sessionCookie, upload } from '../harness/import.ts'
import { startTestServer } from '../harness/server.ts'
import { shared } from '../harness/shared.ts'
import { dumpOfRest } from './dump-of-rest.ts'

const server = shared(startTestServer)
let shop: SandboxShop
beforeAll(async () => {
  shop = await openSandboxShop(server)
})

const EXPORT = 'query ($id: String!, $after: String) { exportUser(id: $id, after: $after) }'

describe('gap: exportUser', () => {
  it('has everything about a user and nothing about another', async () => {
    const { admin, dashboard, id: appId } = shop
    await admin.data('mutation { createUser(input: { id: "bob", email: "bob@example.com" }) { id } }')
    await dashboard.data(
      `mutation { a: updateUser(appId: "${appId}", id: "ann", input: { id: "anna", metadata: { shoe: 38 } }) { id }
        b: updateUser(appId: "${appId}", id: "bob", input: { name: "Bob" }) { id } }`,
    )
    const csv = 'id,email\nanna,anna@example.com\nbob,bob@new.example\n'
    await upload(server, await sessionCookie(server), { app: appId, import: 'one' }, csv)
    await shop.buy('plan', 'anna')
    await shop.buy('plan', 'bob')
    await dashboard.call('recordUsage', { input: { userId: 'anna', featureId: 'call', delta: 3 } })
    await admin.call('recordUsage', { input: { userId: 'bob', featureId: 'call', delta: 1 } })
    await jobsDone(server.databaseUrl)

    const { exportUser } = await admin.data(EXPORT, { id: 'anna' })
    const { user: bob } = await admin.data('{ user(id: "bob") { billingId } }')
    for (const text of ['bob', bob.billingId]) expect(JSON.stringify(exportUser)).not.toContain(text)
    const paid = { provider: 'sandbox', customerRef: expect.stringMatching(/^cus_sandbox_/) }
    expect(exportUser).toMatchObject({
      user: {
        id: 'anna',
        email: 'anna@example.com',
        metadata: { shoe: 38 },
        billingId: expect.stringMatching(/^cus_sandbox_/),
        formerIds: [{ id: 'ann' }],
        overrides: null,
      },
      subscriptions: [{ packageId: 'plan', cancelledAt: null, provider: 'sandbox' }],
      providerSubscriptions: [{ ...paid, status: 'active' }],
      paymentLinks: [{ state: 'PAID', templateId: 'plan' }],
      importRows: [{ importId: 'one', line: 2, newEmail: 'anna@example.com' }],
      auditEntries: [
        { operation: 'createUser', actorKind: 'API_KEY', after: { id: 'ann' } },
        { operation: 'updateUser', before: { id: 'ann' }, after: { id: 'anna' } },
        {
          operation: 'syncSubscription',
          actorKind: 'PROVIDER',
          memberEmail: 'sandbox',
          before: { subscriptions: [] },
          after: { subscriptions: [{ packageId: 'plan' }] },
        },
        { operation: 'recordUsage', subjectId: 'anna' },
      ],
      notices: [{ type: 'checkout.session.completed', state: 'DONE' }],
      usageCounters: [{ featureId: 'call', used: 3 }],
      usageLedger: [{ featureId: 'call', action: 'ADD', delta: 3 }],
      next: null,
    })
    const { exportUser: same } = await dashboard.data(`{ exportUser(appId: "${appId}", id: "anna") }`)
    expect(same).toEqual(exportUser)
  })

  it('has nothing about somebody who had the id before', async () => {
    const { admin, dashboard, id: appId } = shop
    await admin.data('mutation { createUser(input: { id: "cat" }) { id } }')
    const csv = 'id,email\ncat,first@example.com\n'
    const cookie = await sessionCookie(server)
    await upload(server, cookie, { app: appId, import: 'two' }, csv)
    // A row that is not applied still shows what there was.
    await admin.data('mutation { createUser(input: { id: "payer", billingId: "cus_payer" }) { id } }')
    await upload(server, cookie, { app: appId, import: 'three' }, 'id,billingId\ncat,cus_payer\n')
    await dashboard.call('updateUser', { id: 'cat', input: { id: 'former' } })
    await admin.data('mutation { createUser(input: { id: "cat" }) { id } }')
    const { exportUser } = await admin.data(EXPORT, { id: 'cat' })
    expect(exportUser.importRows).toEqual([])
    expect(JSON.stringify(exportUser)).not.toContain('first@example.com')
    const former = await admin.data(EXPORT, { id: 'former' })
    expect(former.exportUser.importRows).toMatchObject([
      { importId: 'three', problem: 'BILLING_ID_TAKEN', oldEmail: 'first@example.com' },
      { importId: 'two', newEmail: 'first@example.com' },
    ])
    await admin.data('mutation { deleteUser(id: "former") { id } }')
    expect(tablesWith(await dumpOfRest(server.databaseUrl), 'first@example.com')).toEqual([])
  })

  it('refuses a part that no part led to', async () => {
    for (const key of [
      'x',
      Buffer.from('[16,""]').toString('base64url'),
      Buffer.from('["length",""]').toString('base64url'),
      Buffer.from('[4,"x"]').toString('base64url'),
      Buffer.from('[7,"[1]"]').toString('base64url'),
      Buffer.from('[7,"[\\"call\\",\\"MONTH\\",\\"never\\"]"]').toString('base64url'),
      Buffer.from('[8,"nothing"]').toString('base64url'),
      Buffer.from('[0,"\\u0000"]').toString('base64url'),
    ]) {
      const error = await shop.admin.error(EXPORT, { id: 'bob', after: key })
      expect(error.message, key).toBe('after must be the `next` value of a previous page')
    }
    for (const part of [0, 1, 2, 3, 4, 5, 6, 7, 8]) {
      const after = Buffer.from(JSON.stringify([part, ''])).toString('base64url')
      const { exportUser }: Data = await shop.admin.data(EXPORT, { id: 'bob', after })
      expect(exportUser.usageLedger).toHaveLength(1)
    }
  })
})
