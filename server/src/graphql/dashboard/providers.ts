import { ACCESS_AFTER_REFUND } from '../../domain/reversal.ts'
import { inApp } from '../../operations/apps/apps.ts'
import {
  type BillingSettings,
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

/** Provider accounts, their notices, and the billing behind a subscription. */
export function defineProviders(builder: Builder<DashboardContext>, types: DashboardTypes): void {
  const own = defineProviderTypes(builder, types)

  queryFields(builder, (t) => {
    const appId = t.arg.string({ required: true })
    return {
      providerAccounts: t.field({
        type: [own.account],
        description: 'One for each provider there is, set up or not.',
        args: { appId },
        resolve: (_, { appId }, context) => providerAccounts(appCall(context, appId)),
      }),
      providerUse: t.field({
        type: own.use,
        nullable: true,
        description: 'What would go on at the provider if its keys were removed.',
        args: { appId, provider: t.arg.string({ required: true }) },
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
          'What the providers sent, newest first. `after` is the id of the last one of the page before.',
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
        nullable: true,
        args: { appId, id: t.arg.string({ required: true }) },
        resolve: (_, { appId, id }, context) => notice(appCall(context, appId), id),
      }),
      noticeCounts: t.field({
        type: own.noticeCounts,
        args: { appId },
        resolve: (_, { appId }, context) => noticeCounts(appCall(context, appId)),
      }),
    }
  })

  mutationFields(builder, (t) => {
    const appId = t.arg.string({ required: true })
    const id = t.arg.string({ required: true })
    const provider = t.arg.string({ required: true })
    return {
      setProviderAccount: t.field({
        type: own.account,
        nullable: true,
        description: 'Secrets are written, never read back. What the input leaves out stays as it is.',
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
        nullable: true,
        description: 'Forgets the secrets; the sandbox goes back to being on.',
        args: { appId, provider },
        resolve: (_, { appId, provider }, context) =>
          removeProviderAccount(appCall(context, appId), provider),
      }),
      testProviderAccount: t.field({
        type: own.test,
        nullable: true,
        description: 'Sends the provider a small request with the keys that are set.',
        args: { appId, provider },
        resolve: (_, { appId, provider }, context) => testProviderAccount(appCall(context, appId), provider),
      }),
      setGraceDays: t.field({
        type: own.settings,
        nullable: true,
        args: { appId, days: t.arg.int({ required: true }) },
        resolve: (_, { appId, days }, context) => setGraceDays(appCall(context, appId), days),
      }),
      setAccessAfterRefund: t.field({
        type: own.settings,
        nullable: true,
        description:
          'What becomes of access when everything paid for the running period is refunded or disputed. It also decides about refunds and disputes of before.',
        args: { appId, access: t.arg({ type: own.access, required: true }) },
        resolve: async (_, { appId, access }, context) =>
          setAccessAfterRefund(await inApp(appCall(context, appId)), access),
      }),
      replayNotice: t.field({
        type: own.notice,
        nullable: true,
        description: 'Has a notice handled again, whatever it came to before.',
        args: { appId, id },
        resolve: (_, { appId, id }, context) => replayNotice(appCall(context, appId), id),
      }),
      replayFailedNotices: t.int({
        nullable: true,
        description: 'Has all failed ones handled again; returns how many.',
        args: { appId },
        resolve: (_, { appId }, context) => replayFailedNotices(appCall(context, appId)),
      }),
      reconcileBilling: t.int({
        nullable: true,
        description: 'Syncs every open checkout and live subscription with the providers; returns how many.',
        args: { appId },
        resolve: (_, { appId }, context) => reconcileBilling(appCall(context, appId)),
      }),
    }
  })
}

function defineProviderTypes(builder: Builder<DashboardContext>, types: DashboardTypes) {
  const source = builder.enumType('ProviderAccountSource', {
    description:
      'NONE: nothing is set. BUILT_IN: it comes with Tollgate. ENVIRONMENT: STRIPE_SECRET_KEY, for the app default.',
    values: ACCOUNT_SOURCES,
  })
  const use = builder.objectRef<StillPaid>('ProviderUse').implement({
    fields: (t) => ({
      paid: t.expose('paid', { type: 'SafeInt', description: 'Subscriptions that it still charges.' }),
      openLinks: t.expose('openLinks', { type: 'SafeInt', description: 'Payment links that can be paid.' }),
    }),
  })
  const account = builder.objectRef<ProviderAccount>('ProviderAccount').implement({
    fields: (t) => ({
      provider: t.exposeString('provider'),
      enabled: t.exposeBoolean('enabled', { description: 'Whether links can be paid through it.' }),
      source: t.expose('source', { type: source }),
      keyHint: t.exposeString('keyHint', {
        nullable: true,
        description: "The secret key's last four characters; null: none.",
      }),
      livemode: t.exposeBoolean('livemode', {
        nullable: true,
        description: 'False for a test key; null: no key.',
      }),
      webhookSecrets: t.exposeInt('webhookSecrets', {
        description: 'How many webhook signing secrets are accepted: two while they are being rotated.',
      }),
      webhookUrl: t.exposeString('webhookUrl', { description: 'What to enter at the provider.' }),
      warning: t.exposeString('warning', {
        nullable: true,
        description:
          'Set while the sandbox is on beside Stripe: its links give what they are for without payment.',
      }),
      updatedAt: t.string({ nullable: true, resolve: (row) => isoTimeOrNull(row.updatedAt) }),
    }),
  })
  const accountInput = builder.inputType('ProviderAccountInput', {
    fields: (t) => ({
      enabled: t.boolean(),
      secretKey: t.string(),
      webhookSecret: t.string({
        description: 'A new one is accepted beside the one before, until that is dropped.',
      }),
      dropPreviousWebhookSecret: t.boolean(),
    }),
  })
  const test = builder.objectRef<{ ok: boolean; message: string }>('ProviderTest').implement({
    fields: (t) => ({ ok: t.exposeBoolean('ok'), message: t.exposeString('message') }),
  })
  const access = builder.enumType('AccessAfterRefund', { values: ACCESS_AFTER_REFUND })
  const settings = builder.objectRef<BillingSettings>('BillingSettings').implement({
    fields: (t) => ({
      graceDays: t.exposeInt('graceDays', {
        description: 'How many days after a failed payment access lasts.',
      }),
      accessAfterRefund: t.expose('accessAfterRefund', {
        type: access,
        description:
          'What becomes of access when everything paid for the running period is refunded or disputed.',
      }),
    }),
  })
  const noticeState = builder.enumType('NoticeState', { values: NOTICE_STATES })
  const noticeRef = builder.objectRef<ShownNotice>('Notice').implement({
    fields: (t) => ({
      id: t.string({ resolve: (row) => String(row.seq) }),
      provider: t.exposeString('provider'),
      eventId: t.exposeString('eventId', { description: "The provider's id of it." }),
      type: t.exposeString('type'),
      state: t.expose('state', { type: noticeState }),
      attempts: t.exposeInt('attempts'),
      lastError: t.exposeString('lastError', { nullable: true }),
      payload: t.expose('payload', { type: 'JSON' }),
      user: t.expose('user', {
        type: types.part,
        nullable: true,
        description: 'Whom it is about; null: nobody we know.',
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
      ref: t.exposeString('ref', { description: "The subscription's (or payment's) id at the provider." }),
      status: t.exposeString('status', { description: "The provider's word for its state." }),
      paidUntil: t.string({
        nullable: true,
        description: 'When what is paid for ends; null: never.',
        resolve: (row) => isoTimeOrNull(row.paidUntil),
      }),
    }),
  })
  builder.objectFields(types.subscription, (t) => ({
    billing: t.field({
      type: billing,
      nullable: true,
      description: 'Where the money for it comes from; null: it was made by hand or by the Admin API.',
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
