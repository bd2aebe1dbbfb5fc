import assert from 'node:assert/strict'
import { setTimeout as delay } from 'node:timers/promises'
import type { Data } from '../harness/client.ts'
import { PATIENCE_MS } from '../harness/patience.ts'
import { newId, type OwnApp } from './app.ts'
import { type Audit, section } from './audit.ts'

/** What it comes to, once it is so: notices take their time. */
async function eventually<T>(look: () => Promise<T>, isSo: (seen: T) => boolean): Promise<T> {
  for (const until = Date.now() + PATIENCE_MS; ; await delay(50)) {
    const seen = await look()
    if (isSo(seen) || Date.now() > until) return seen
  }
}

/** A user who has paid for a plan in the sandbox, in an app that ends access with a whole refund or dispute. */
async function paidPlan(app: OwnApp) {
  const { dashboard, admin, id: appId } = app
  const featureId = await app.makeFeature()
  const packageId = await app.makePlan({ id: featureId, entitlement: { limit: 10 } })
  const templateId = newId('template')
  await dashboard.data(
    `mutation ($appId: String!, $packageId: String!, $template: CreateBillingTemplateInput!) {
      setAccessAfterRefund(appId: $appId, access: END) { accessAfterRefund }
      createPrice(appId: $appId, packageId: $packageId, input: { amount: 900, currency: "usd", interval: "month" }) { id }
      createBillingTemplate(appId: $appId, input: $template) { id }
    }`,
    { appId, packageId, template: { id: templateId, name: 'Template', packageIds: [packageId] } },
  )
  const userId = await app.makeUser()
  const { generateSubscriptionLink } = await admin.data(
    `mutation ($userId: String!, $templateId: String!) {
      generateSubscriptionLink(userId: $userId, templateId: $templateId,
        successUrl: "https://shop.example/paid", cancelUrl: "https://shop.example/back") { url }
    }`,
    { userId, templateId },
  )
  const card = { number: '4242424242424242', expiry: '12/99', cvc: '123' }
  const body = new URLSearchParams({ action: 'pay', ...card })
  await fetch(generateSubscriptionLink.url, { method: 'POST', body, redirect: 'manual' })
  const subscriptions = async (): Promise<Data[]> =>
    (
      await admin.data(
        `query ($userId: String!) {
          subscriptions(userId: $userId) { id status reversals { refunded dispute { state } } }
        }`,
        { userId },
      )
    ).subscriptions
  const [bought] = await eventually(subscriptions, (all) => all.length > 0)
  assert.equal(bought?.status, 'ACTIVE')
  const payments = async (): Promise<Data[]> =>
    (
      await dashboard.data(
        `query ($appId: String!, $id: String!) {
          sandboxPayments(appId: $appId, subscriptionId: $id) { paymentRef }
        }`,
        { appId, id: bought?.id },
      )
    ).sandboxPayments
  const [payment] = await eventually(payments, (all) => all.length > 0)
  const reverse = (action: string) =>
    dashboard.data(
      `mutation ($appId: String!, $id: String!, $ref: String!, $action: SandboxReversal!) {
        reverseSandboxPayment(appId: $appId, subscriptionId: $id, paymentRef: $ref, action: $action) { paymentRef }
      }`,
      { appId, id: bought?.id, ref: payment?.paymentRef, action },
    )
  const access = async (): Promise<boolean> => (await app.canUseFeature(userId, featureId)).access
  return { subscriptions, reverse, access }
}

export const refunds: Audit[] = [
  section('gap: refunds').withOwner(
    'G.LIFE.refund',
    'A whole refund is shown on its subscription, and ends it where the app says so.',
    async ({ freshApp }) => {
      const { subscriptions, reverse, access } = await paidPlan(await freshApp())
      assert.equal(await access(), true)
      await reverse('REFUND')
      const [ended] = await eventually(subscriptions, ([s]) => s?.status === 'CANCELLED')
      assert.equal(ended?.status, 'CANCELLED')
      assert.deepEqual(ended?.reversals, [{ refunded: 900, dispute: null }])
      assert.equal(await access(), false)
    },
  ),
  section('gap: disputes').withOwner(
    'G.LIFE.dispute',
    'A dispute is shown on its subscription and ends it where the app says so; a won one gives it back.',
    async ({ freshApp }) => {
      const { subscriptions, reverse, access } = await paidPlan(await freshApp())
      await reverse('DISPUTE')
      const [ended] = await eventually(subscriptions, ([s]) => s?.status === 'CANCELLED')
      assert.equal(ended?.status, 'CANCELLED')
      assert.equal(ended?.reversals[0]?.dispute?.state, 'OPEN')
      assert.equal(await access(), false)
      await reverse('WIN_DISPUTE')
      const all = await eventually(subscriptions, (some) => some.at(-1)?.status === 'ACTIVE')
      assert.deepEqual(
        all.map(({ status }) => status),
        ['CANCELLED', 'ACTIVE'],
      )
      assert.equal(await access(), true)
    },
  ),
]
