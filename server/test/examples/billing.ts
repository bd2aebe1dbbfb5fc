import { expect } from 'vitest'
import { rowsOf } from '../harness/database.ts'
import type { MutationExamples, QueryExamples, Turn } from './example.ts'

export const billingQueries = {
  prices: { args: () => ({ packageId: 'plan', includeArchived: true }) },
  providerPrices: { args: () => ({ provider: 'stripe' }), code: 'BILLING_PROVIDER_ERROR' },
  currencies: { args: () => ({ provider: 'stripe' }) },
  billingTemplate: { args: () => ({ id: 'plan' }) },
  billingTemplates: { args: () => ({ includeArchived: false }) },
  billingTemplateUse: { args: () => ({ id: 'plan' }) },
  providerAccounts: { args: () => ({}) },
  providerUse: { args: () => ({ provider: 'sandbox' }) },
  billingSettings: { args: () => ({}) },
  sandboxPayments: { args: () => ({ subscriptionId: 'none' }), code: 'SUBSCRIPTION_NOT_FOUND' },
  userPayments: { args: () => ({ userId: 'ann', first: 5 }) },
  subscriptionPayments: { args: ({ world }) => ({ id: world.subscription }) },
  refundPreview: {
    args: ({ world }) => ({ subscriptionId: world.subscription, paymentRef: 'none' }),
    code: 'BAD_USER_INPUT',
  },
  notice: { args: () => ({ id: '0' }), code: 'NOTICE_NOT_FOUND' },
  notices: { args: () => ({ state: 'DONE', first: 3 }) },
  noticeCounts: { args: () => ({}) },
  revenue: { args: () => ({ days: 30, fresh: true }) },
  revenueOverTime: { args: () => ({ from: '2026-01-01', to: '2026-01-31' }) },
  revenueList: { args: () => ({ list: 'CHANGED', days: 365, first: 5 }) },
  mrrList: { args: () => ({ first: 5 }) },
  payments: { args: () => ({ state: 'PAID', days: 7, first: 5 }) },
} satisfies Partial<QueryExamples>

/** The arguments that connect Stripe to an app. */
function stripeAccount({ world: { stripe } }: Turn) {
  if (!stripe) throw new Error('this example needs the stand-in of Stripe')
  return { provider: 'stripe', input: { secretKey: stripe.key, webhookSecret: 'whsec_of_these_tests' } }
}

const SET_ACCOUNT = `mutation ($appId: String!, $provider: String!, $input: ProviderAccountInput!) {
  setProviderAccount(appId: $appId, provider: $provider, input: $input) { provider } }`

/** A user who has paid for the plan once, in the sandbox. */
async function newPayer({ world, id }: Turn): Promise<{ subscriptionId: string; paymentRef: string }> {
  const connection = { connectionString: world.server.databaseUrl }
  const [payer, ref] = [`payer-${id}`, `cs_${id}`]
  await rowsOf(
    connection,
    `with payer as (insert into users (app_id, id, metadata) values ($1, $2, '{}') returning uid),
     customer as (insert into sandbox_customer (app_id, id) values ($1, $3)),
     checkout as (insert into sandbox_checkout
         (app_id, id, session_id, customer_id, items, success_url, cancel_url, state, made_at, paid_at, expires_at)
       values ($1, $3, $3, $3, '[{"amount":900,"currency":"usd"}]', 'https://a.example',
         'https://a.example', 'paid', now(), now(), now()))
     insert into provider_subscription (app_id, provider, ref, user_uid, status, made_at, live)
     select $1, 'sandbox', $3, uid, 'paid', now(), false from payer`,
    [world.id, payer, ref],
  )
  await rowsOf(
    connection,
    `insert into subscription (app_id, id, user_uid, package_id, is_addon, started_at, anchor, provider, provider_ref)
     select $1, $4, uid, 'plan', false, now(), now(), 'sandbox', $3 from users where app_id = $1 and id = $2`,
    [world.id, payer, ref, `bought-${id}`],
  )
  await rowsOf(
    connection,
    `insert into payment (app_id, provider, ref, user_uid, subscription_ref, state, amount, currency, at)
     select $1, 'sandbox', $3, uid, $3, 'PAID', 900, 'usd', now() from users where app_id = $1 and id = $2`,
    [world.id, payer, ref],
  )
  return { subscriptionId: `bought-${id}`, paymentRef: ref }
}

/** A user who has bought a credit, in the sandbox. */
async function newBuyer({ world, id }: Turn): Promise<{ creditId: string; paymentRef: string }> {
  const [buyer, ref, creditId] = [`buyer-${id}`, `cs_bought_${id}`, `bought-${id}`]
  await rowsOf(
    { connectionString: world.server.databaseUrl },
    `with buyer as (insert into users (app_id, id, metadata) values ($1, $2, '{}') returning uid),
     customer as (insert into sandbox_customer (app_id, id) values ($1, $3)),
     checkout as (insert into sandbox_checkout
         (app_id, id, session_id, customer_id, items, success_url, cancel_url, state, made_at, paid_at, expires_at)
       values ($1, $3, $3, $3, '[{"amount":900,"currency":"usd"}]', 'https://a.example',
         'https://a.example', 'paid', now(), now(), now())),
     purchase as (insert into provider_subscription (app_id, provider, ref, user_uid, status, made_at, live)
       select $1, 'sandbox', $3, uid, 'paid', now(), false from buyer),
     payment as (insert into payment (app_id, provider, ref, user_uid, subscription_ref, state, amount, currency, at)
       select $1, 'sandbox', $3, uid, $3, 'PAID', 900, 'usd', now() from buyer)
     insert into credit (app_id, id, user_uid, feature_id, amount, kind, priority, effective_at, created_at, bought,
       provider, provider_ref)
     select $1, $4, uid, 'storage', 100, 'PAID', 50, now(), now(), 100, 'sandbox', $3 from buyer`,
    [world.id, buyer, ref, creditId],
  )
  return { creditId, paymentRef: ref }
}

/** A webhook event that could not be handled. */
async function failedNotice({ world, id }: Turn): Promise<string> {
  const [notice] = await rowsOf<{ seq: string }>(
    { connectionString: world.server.databaseUrl },
    `insert into notice (app_id, provider, event_id, type, payload, state)
     values ($1, 'stripe', $2, 'invoice.paid', '{}', 'FAILED') returning seq`,
    [world.id, `evt_${id}`],
  )
  return String(notice?.seq)
}

export const billingMutations = {
  createPrice: {
    after: ['publishPackage'],
    args: ({ package: packageId, price }) => ({
      packageId,
      input: { id: price, amount: 1200, currency: 'eur', interval: 'month' },
    }),
    audit: ({ package: packageId }) => ({
      subjectKind: 'price',
      before: null,
      after: { provider: 'sandbox', packageId, amount: 1200, archivedAt: null },
    }),
  },
  importPrice: {
    after: ['createPackage'],
    args: async (turn) => {
      const { world } = turn
      await world.dashboard.data(SET_ACCOUNT, { appId: world.id, ...stripeAccount(turn) })
      const sold = world.stripe?.sell({ name: turn.id, amount: 1500, interval: 'month' })
      return { packageId: turn.package, provider: 'stripe', id: sold?.id }
    },
    audit: ({ package: packageId }) => ({
      subjectKind: 'price',
      before: null,
      after: { provider: 'stripe', packageId, amount: 1500, interval: 'month' },
    }),
  },
  archivePrice: {
    after: ['createPrice'],
    args: ({ price }) => ({ provider: 'sandbox', id: price, archived: true }),
    audit: {
      subjectKind: 'price',
      before: { archivedAt: null },
      after: { archivedAt: expect.any(String) },
    },
  },
  setDefaultPrice: {
    after: ['createPrice'],
    async args({ world, package: packageId, price }) {
      await world.dashboard.data(
        `mutation ($appId: String!, $packageId: String!, $id: String!) {
          createPrice(appId: $appId, packageId: $packageId, input: { id: $id, amount: 9900, currency: "usd", interval: "year" }) { id }
        }`,
        { appId: world.id, packageId, id: `${price}-yearly` },
      )
      return { provider: 'sandbox', id: `${price}-yearly` }
    },
    audit: { subjectKind: 'price', before: { isDefault: false }, after: { isDefault: true } },
  },
  createBillingTemplate: {
    after: ['createPrice'],
    args: ({ template, package: packageId, price }) => ({
      input: { id: template, name: 'Offer', packageIds: [packageId], priceIds: [price] },
    }),
    audit: ({ template, package: packageId }) => ({
      subjectKind: 'billingTemplate',
      subjectId: template,
      before: null,
      after: { name: 'Offer', packageIds: [packageId], archivedAt: null },
    }),
  },
  archiveBillingTemplate: {
    after: ['createBillingTemplate'],
    args: ({ template }) => ({ id: template, archived: true }),
    audit: { before: { archivedAt: null }, after: { archivedAt: expect.any(String) } },
  },
  deleteBillingTemplate: {
    after: ['createBillingTemplate'],
    args: ({ template }) => ({ id: template }),
    audit: { sentence: 'deleted the billing template Offer', before: { name: 'Offer' }, after: null },
  },
  generateSubscriptionLink: {
    after: ['createBillingTemplate', 'createUser'],
    args: ({ user, template }) => ({
      ...{ userId: user, templateId: template },
      ...{ successUrl: 'https://a.example', cancelUrl: 'https://b.example' },
    }),
    audit: ({ template }) => ({ subjectKind: 'billingTemplate', subjectId: template }),
    repeated: {
      answered: ['"url":"http'],
      meanwhile: ({ user, id }) => `updateUser(id: "${user}", input: { id: "moved-${id}" }) { id }`,
      effect: ({ id }) => `user(id: "moved-${id}") { name }`,
      once: { user: { name: 'Eve' } },
    },
    statements: 23,
    keyed: [28, 6],
  },
  generateCreditLink: {
    after: ['createUser'],
    args: ({ user }) => ({
      ...{ userId: user, priceId: 'price_pack', quantity: 2 },
      ...{ successUrl: 'https://a.example', cancelUrl: 'https://b.example' },
    }),
    audit: ({ user }) => ({
      sentence: 'created a payment link for credits of the user Eve',
      subjectKind: 'user',
      subjectId: user,
    }),
    repeated: {
      answered: ['"url":"http'],
      meanwhile: ({ user, id }) => `updateUser(id: "${user}", input: { id: "moved-${id}" }) { id }`,
      effect: ({ id }) => `user(id: "moved-${id}") { name }`,
      once: { user: { name: 'Eve' } },
    },
    statements: 22,
    keyed: [27, 6],
  },
  setProviderAccount: {
    after: ['createApp'],
    args: (turn) => ({ appId: turn.app, ...stripeAccount(turn) }),
    audit: {
      subjectKind: 'providerAccount',
      subjectId: 'stripe',
      before: null,
      after: { enabled: true, hasKey: true, hasWebhookSecret: true },
    },
  },
  removeProviderAccount: {
    after: ['setProviderAccount'],
    args: ({ app }) => ({ appId: app, provider: 'stripe' }),
    audit: { subjectKind: 'providerAccount', before: { hasKey: true }, after: null },
  },
  testProviderAccount: { args: () => ({ provider: 'stripe' }), audit: null },
  setGraceDays: {
    after: ['createApp'],
    args: ({ app }) => ({ appId: app, days: 3 }),
    audit: { subjectKind: 'app', before: { graceDays: 7 }, after: { graceDays: 3 } },
  },
  setAccessAfterRefund: {
    after: ['createApp'],
    args: ({ app }) => ({ appId: app, access: 'END' }),
    audit: {
      sentence: 'set access to end after a refund or dispute',
      subjectKind: 'app',
      before: { accessAfterRefund: 'KEEP' },
      after: { accessAfterRefund: 'END' },
    },
  },
  refundPayment: {
    args: async (turn) => ({
      ...(await newPayer(turn)),
      amount: 400,
      reason: 'REQUESTED_BY_CUSTOMER',
      key: 'once',
    }),
    audit: ({ id }) => ({
      sentence: `refunded a payment of payer-${id} for Some`,
      subjectKind: 'subscription',
      subjectId: `bought-${id}`,
    }),
  },
  refundCredit: {
    args: async (turn) => ({ ...(await newBuyer(turn)), amount: 400, reason: 'DUPLICATE', key: 'once' }),
    audit: ({ id }) => ({
      sentence: `refunded the payment for a credit of the user buyer-${id}`,
      subjectKind: 'credit',
      subjectId: `bought-${id}`,
    }),
  },
  reverseSandboxCredit: {
    args: async (turn) => ({ creditId: (await newBuyer(turn)).creditId, action: 'REFUND' }),
    audit: ({ id }) => ({
      sentence: `simulated a refund or dispute of the sandbox payment for a credit of the user buyer-${id}`,
      subjectKind: 'credit',
      subjectId: `bought-${id}`,
    }),
  },
  reverseSandboxPayment: {
    args: async (turn) => ({ ...(await newPayer(turn)), action: 'REFUND' }),
    audit: ({ id }) => ({
      sentence: `simulated a refund or dispute of a sandbox payment of payer-${id} for Some`,
      subjectKind: 'subscription',
      subjectId: `bought-${id}`,
    }),
  },
  replayNotice: {
    args: async (turn) => ({ id: await failedNotice(turn) }),
    audit: {
      subjectKind: 'notice',
      subjectId: expect.stringMatching(/^\d+$/),
      before: null,
      after: null,
    },
  },
  replayFailedNotices: { args: () => ({}), audit: { subjectKind: 'notice', subjectId: null } },
  reconcileBilling: {
    args: () => ({}),
    audit: ({ world }) => ({ appId: world.id, subjectKind: 'notice', subjectId: null }),
  },
} satisfies Partial<MutationExamples>
