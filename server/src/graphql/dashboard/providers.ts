import { ACCESS_AFTER_REFUND } from '../../domain/reversal.ts'
import { inApp } from '../../operations/apps/apps.ts'
import {
  type AppBillingSettings,
  billingSettings,
  setAccessAfterRefund,
  setGraceDays,
} from '../../operations/billing/billing-settings.ts'
import {
  notice,
  noticeCounts,
  notices,
  reconcileBilling,
  replayFailedNotices,
  replayNotice,
  type ShownNotice,
} from '../../operations/billing/notices.ts'
import {
  type ProviderAccount,
  providerAccounts,
  providerUse,
  removeProviderAccount,
  setProviderAccount,
  testProviderAccount,
} from '../../operations/billing/provider-accounts.ts'
import { ACCOUNT_SOURCES } from '../../operations/billing/provider-of.ts'
import {
  type SubscriptionBilling,
  subscriptionBilling,
} from '../../operations/subscriptions/subscription-billing.ts'
import type { StillPaid } from '../../store/apps/remove-app.ts'
import { NOTICE_STATES } from '../../store/billing/notices.ts'
import type { Builder } from '../types/builder.ts'
import { isoTime, isoTimeOrNull } from '../types/time.ts'
import { appCall, type DashboardContext } from './context.ts'
import { mutationFields, queryFields } from './fields.ts'
import type { DashboardTypes } from './types.ts'

/** Provider accounts, webhook events, and the billing of a subscription. */
export function defineProviders(builder: Builder<DashboardContext>, types: DashboardTypes): void {
  const own = defineProviderTypes(builder, types)

  queryFields(builder, (t, { appId, id, provider }) => ({
    providerAccounts: t.field({
      type: [own.account],
      description: 'Accounts of all supported billing providers, including those not set up.',
      args: { appId },
      resolve: (_, { appId }, context) => providerAccounts(appCall(context, appId)),
    }),
    providerUse: t.field({
      type: own.use,
      description: 'Open charges at a billing provider, to review before removing its keys.',
      args: { appId, provider },
      resolve: (_, { appId, provider }, context) => providerUse(appCall(context, appId), provider),
    }),
    billingSettings: t.field({
      type: own.settings,
      args: { appId },
      resolve: (_, { appId }, context) => billingSettings(appCall(context, appId)),
    }),
    notices: t.field({
      type: [own.notice],
      description:
        'Webhook events from the billing providers, newest first. `after` is the ID of the last event of the previous page.',
      args: {
        appId,
        provider: t.arg.string(),
        state: t.arg({ type: own.noticeState }),
        type: t.arg.string(),
        first: t.arg.int({ defaultValue: 50 }),
        after: t.arg.string(),
      },
      resolve: (_, { appId, provider, state, type, first, after }, context) =>
        notices(
          appCall(context, appId),
          { provider: provider ?? null, state: state ?? null, type: type ?? null },
          first ?? 50,
          after ?? null,
        ),
    }),
    notice: t.field({
      type: own.notice,
      args: { appId, id },
      resolve: (_, { appId, id }, context) => notice(appCall(context, appId), id),
    }),
    noticeCounts: t.field({
      type: own.noticeCounts,
      args: { appId },
      resolve: (_, { appId }, context) => noticeCounts(appCall(context, appId)),
    }),
  }))

  mutationFields(builder, (t, { appId, id, provider }) => ({
    setProviderAccount: t.field({
      type: own.account,
      description: 'Updates a provider account. Secrets are write-only; omitted fields are not changed.',
      args: { appId, provider, input: t.arg({ type: own.accountInput, required: true }) },
      resolve: (_, { appId, provider, input }, context) =>
        setProviderAccount(appCall(context, appId), provider, {
          enabled: input.enabled ?? null,
          secretKey: input.secretKey ?? null,
          webhookSecret: input.webhookSecret ?? null,
          dropPreviousWebhookSecret: input.dropPreviousWebhookSecret ?? false,
        }),
    }),
    removeProviderAccount: t.field({
      type: own.account,
      description: 'Removes the secrets of a provider account. For the sandbox, enables it again.',
      args: { appId, provider },
      resolve: (_, { appId, provider }, context) => removeProviderAccount(appCall(context, appId), provider),
    }),
    testProviderAccount: t.field({
      type: own.test,
      description: 'Sends a test request to the billing provider with the configured keys.',
      args: { appId, provider },
      resolve: (_, { appId, provider }, context) => testProviderAccount(appCall(context, appId), provider),
    }),
    setGraceDays: t.field({
      type: own.settings,
      args: { appId, days: t.arg.int({ required: true }) },
      resolve: (_, { appId, days }, context) => setGraceDays(appCall(context, appId), days),
    }),
    setAccessAfterRefund: t.field({
      type: own.settings,
      description:
        'Sets whether access ends when the payments for the current period are fully refunded or disputed. Also applies to earlier refunds and disputes.',
      args: { appId, access: t.arg({ type: own.access, required: true }) },
      resolve: async (_, { appId, access }, context) =>
        setAccessAfterRefund(await inApp(appCall(context, appId)), access),
    }),
    replayNotice: t.field({
      type: own.notice,
      description: 'Processes a webhook event again, regardless of its state.',
      args: { appId, id },
      resolve: (_, { appId, id }, context) => replayNotice(appCall(context, appId), id),
    }),
    replayFailedNotices: t.int({
      description: 'Processes all failed webhook events again and returns their number.',
      args: { appId },
      resolve: (_, { appId }, context) => replayFailedNotices(appCall(context, appId)),
    }),
    reconcileBilling: t.int({
      description: 'Syncs open checkouts and live subscriptions with the providers. Returns their number.',
      args: { appId },
      resolve: (_, { appId }, context) => reconcileBilling(appCall(context, appId)),
    }),
  }))
}

function defineProviderTypes(builder: Builder<DashboardContext>, types: DashboardTypes) {
  const source = builder.enumType('ProviderAccountSource', {
    description:
      'Where an account is configured. NONE: not configured. BUILT_IN: part of Tollgate. ENVIRONMENT: `STRIPE_SECRET_KEY`, for the app `default`.',
    values: ACCOUNT_SOURCES,
  })
  const use = builder.objectRef<StillPaid>('ProviderUse').implement({
    fields: (t) => ({
      paid: t.expose('paid', {
        type: 'SafeInt',
        description: 'Number of subscriptions still charged.',
      }),
      openLinks: t.expose('openLinks', { type: 'SafeInt', description: 'Number of open payment links.' }),
    }),
  })
  const account = builder.objectRef<ProviderAccount>('ProviderAccount').implement({
    fields: (t) => ({
      provider: t.exposeString('provider'),
      enabled: t.exposeBoolean('enabled', {
        description: 'Whether payment links can use the provider.',
      }),
      source: t.expose('source', { type: source }),
      keyHint: t.exposeString('keyHint', {
        nullable: true,
        description: 'Last four characters of the secret key; null if none is set.',
      }),
      livemode: t.exposeBoolean('livemode', {
        nullable: true,
        description: 'Whether the secret key is a live key, not a test key; null if none is set.',
      }),
      webhookSecrets: t.exposeInt('webhookSecrets', {
        description: 'Number of accepted webhook signing secrets. There are two during a rotation.',
      }),
      webhookUrl: t.exposeString('webhookUrl', {
        description: 'Webhook URL to set at the provider.',
      }),
      warning: t.exposeString('warning', {
        nullable: true,
        description:
          'Set if the sandbox is enabled together with Stripe, since sandbox links grant packages without payment.',
      }),
      updatedAt: t.string({ nullable: true, resolve: (row) => isoTimeOrNull(row.updatedAt) }),
    }),
  })
  const accountInput = builder.inputType('ProviderAccountInput', {
    fields: (t) => ({
      enabled: t.boolean(),
      secretKey: t.string(),
      webhookSecret: t.string({
        description: 'New webhook signing secret. The previous one remains valid until it is dropped.',
      }),
      dropPreviousWebhookSecret: t.boolean(),
    }),
  })
  const test = builder.objectRef<{ ok: boolean; message: string }>('ProviderTest').implement({
    fields: (t) => ({ ok: t.exposeBoolean('ok'), message: t.exposeString('message') }),
  })
  const access = builder.enumType('AccessAfterRefund', { values: ACCESS_AFTER_REFUND })
  const settings = builder.objectRef<AppBillingSettings>('BillingSettings').implement({
    fields: (t) => ({
      graceDays: t.exposeInt('graceDays', {
        description: 'Number of days that access continues after a failed payment.',
      }),
      accessAfterRefund: t.expose('accessAfterRefund', {
        type: access,
        description: 'Whether access ends when the current period is fully refunded or disputed.',
      }),
    }),
  })
  const noticeState = builder.enumType('NoticeState', { values: NOTICE_STATES })
  const noticeRef = builder.objectRef<ShownNotice>('Notice').implement({
    fields: (t) => ({
      id: t.string({ resolve: (row) => String(row.seq) }),
      provider: t.exposeString('provider'),
      eventId: t.exposeString('eventId', { description: 'ID of the event at the billing provider.' }),
      type: t.exposeString('type'),
      state: t.expose('state', { type: noticeState }),
      attempts: t.exposeInt('attempts'),
      lastError: t.exposeString('lastError', { nullable: true }),
      payload: t.expose('payload', { type: 'JSON' }),
      user: t.expose('user', {
        type: types.part,
        nullable: true,
        description: 'User the event is about; null if unknown.',
      }),
      receivedAt: t.string({ resolve: (row) => isoTime(row.receivedAt) }),
      handledAt: t.string({ nullable: true, resolve: (row) => isoTimeOrNull(row.handledAt) }),
    }),
  })
  const noticeCountsRef = builder
    .objectRef<Awaited<ReturnType<typeof noticeCounts>>>('NoticeCounts')
    .implement({
      fields: (t) => ({
        pending: t.exposeInt('pending'),
        done: t.exposeInt('done'),
        failed: t.exposeInt('failed'),
      }),
    })
  const billing = builder.objectRef<SubscriptionBilling>('SubscriptionBilling').implement({
    fields: (t) => ({
      provider: t.exposeString('provider'),
      ref: t.exposeString('ref', {
        description: 'ID of the subscription or payment at the provider.',
      }),
      status: t.exposeString('status', { description: 'Status as reported by the billing provider.' }),
      paidUntil: t.string({
        nullable: true,
        description: 'End of the paid period; null if it does not end.',
        resolve: (row) => isoTimeOrNull(row.paidUntil),
      }),
    }),
  })
  builder.objectFields(types.subscription, (t) => ({
    billing: t.field({
      type: billing,
      nullable: true,
      description: 'Billing of the subscription; null if created in the dashboard or with the Admin API.',
      resolve: (row, _args, { service }) => subscriptionBilling(service, row),
    }),
  }))
  return {
    account,
    use,
    accountInput,
    test,
    settings,
    access,
    noticeState,
    notice: noticeRef,
    noticeCounts: noticeCountsRef,
  }
}
