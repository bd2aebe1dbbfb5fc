import { MAX_LISTED_CAPS } from '../../domain/limits.ts'
import { inApp } from '../../operations/apps/apps.ts'
import { addCredit } from '../../operations/credits/add-credit.ts'
import { removeCap, setCap } from '../../operations/credits/caps.ts'
import { type CreditBalance, type CreditPage, creditPage } from '../../operations/credits/credit-page.ts'
import { credits } from '../../operations/credits/credits.ts'
import { releaseReservation } from '../../operations/credits/release-reservation.ts'
import { reservations } from '../../operations/credits/reservations.ts'
import {
  type CapInForce,
  type CapPreview,
  type CapsInForce,
  capPreview,
  userCaps,
} from '../../operations/credits/subscriber-caps.ts'
import { voidCredit } from '../../operations/credits/void-credit.ts'
import type { Builder } from '../types/builder.ts'
import { defineCapTypes, REMOVE_CAP, SET_CAP } from '../types/cap-types.ts'
import {
  ADD_CREDIT,
  CREDIT_LIST,
  defineCreditTypes,
  RELEASE,
  RESERVATION_LIST,
  VOID_CREDIT,
} from '../types/credit-types.ts'
import { newCredit } from '../types/inputs.ts'
import { isoTimeOrNull } from '../types/time.ts'
import { appCall, type DashboardContext } from './context.ts'
import { mutationFields, queryFields } from './fields.ts'
import type { DashboardTypes } from './types.ts'

/** Credits, reservations and caps. */
export function defineCredits(builder: Builder<DashboardContext>, shared: DashboardTypes): void {
  const types = defineCreditTypes(builder)
  defineCaps(builder, shared)
  const page = defineCreditPage(builder, types)
  queryFields(builder, (t, { appId, userId }) => ({
    creditPage: t.field({
      type: page,
      description:
        "A user's credits: first those that are live or scheduled, then those that have ended, each newest first.",
      args: { appId, userId, first: t.arg.int(), after: t.arg.string() },
      resolve: async (_, { appId, userId, first, after }, context) =>
        creditPage(await inApp(appCall(context, appId)), userId, first, after),
    }),
    credits: t.field({
      type: [types.credit],
      description: CREDIT_LIST,
      args: {
        appId,
        userId,
        featureId: t.arg.string(),
        state: t.arg({ type: types.creditState }),
        first: t.arg.int(),
        after: t.arg.string(),
      },
      resolve: async (_, { appId, userId, featureId = null, state = null, ...page }, context) =>
        credits(await inApp(appCall(context, appId)), userId, { featureId, state, ...page }),
    }),
    reservations: t.field({
      type: [types.reservation],
      description: RESERVATION_LIST,
      args: {
        appId,
        userId,
        featureId: t.arg.string(),
        state: t.arg({ type: types.reservationState }),
        first: t.arg.int(),
        after: t.arg.string(),
      },
      resolve: async (_, { appId, userId, featureId = null, state = null, ...page }, context) =>
        reservations(await inApp(appCall(context, appId)), userId, { featureId, state, ...page }),
    }),
  }))
  mutationFields(builder, (t, { appId, id }) => ({
    addCredit: t.field({
      type: types.credit,
      description: ADD_CREDIT,
      args: { appId, input: t.arg({ type: types.creditInput, required: true }) },
      resolve: async (_, { appId, input }, context) =>
        addCredit(await inApp(appCall(context, appId)), newCredit(input)),
    }),
    voidCredit: t.field({
      type: types.credit,
      description: VOID_CREDIT,
      args: { appId, id, reason: t.arg.string() },
      resolve: async (_, { appId, id, reason }, context) =>
        voidCredit(await inApp(appCall(context, appId)), id, reason ?? null),
    }),
    releaseReservation: t.field({
      type: types.reservation,
      description: RELEASE,
      args: { appId, id },
      resolve: async (_, { appId, id }, context) =>
        releaseReservation(await inApp(appCall(context, appId)), id),
    }),
  }))
}

function defineCreditPage(
  builder: Builder<DashboardContext>,
  { credit }: ReturnType<typeof defineCreditTypes<DashboardContext>>,
) {
  const balance = builder.objectRef<CreditBalance>('CreditBalance').implement({
    description: 'Live credits of a feature.',
    fields: (t) => ({
      featureId: t.exposeString('featureId'),
      left: t.exposeFloat('left', { description: 'Units that are neither used nor reserved.' }),
      nextExpiry: t.string({
        nullable: true,
        description: 'Expiry of the credit that expires first; null if none expires.',
        resolve: ({ next }) => isoTimeOrNull(next?.expiresAt ?? null),
      }),
      nextExpiring: t.float({
        nullable: true,
        description: 'Units left in that credit.',
        resolve: ({ next }) => next?.left ?? null,
      }),
    }),
  })
  return builder.objectRef<CreditPage>('CreditPage').implement({
    fields: (t) => ({
      rows: t.expose('rows', { type: [credit] }),
      next: t.exposeString('next', {
        nullable: true,
        description: 'Cursor for the next page, passed as `after`; null on the last page.',
      }),
      balances: t.expose('balances', {
        type: [balance],
        description: 'Balances of all features with live credits, on every page.',
      }),
    }),
  })
}

function defineCaps(builder: Builder<DashboardContext>, { resetPeriod }: DashboardTypes): void {
  const { cap, capInput } = defineCapTypes(builder, resetPeriod)
  const inForce = builder.objectRef<CapInForce>('CapInForce').implement({
    description: 'Cap that applies to a user: set for the user, or by a plan.',
    fields: (t) => ({
      featureId: t.exposeString('featureId'),
      entity: t.exposeString('entity', { nullable: true }),
      perEntity: t.exposeString('perEntity', {
        nullable: true,
        description: 'Type of the entities that are limited individually.',
      }),
      period: t.expose('period', { type: resetPeriod }),
      limit: t.exposeFloat('limit'),
      own: t.exposeBoolean('own', { description: 'Whether the cap was set for this user.' }),
      planLimit: t.exposeFloat('planLimit', {
        nullable: true,
        description: "Limit of the plan's cap that it replaces; null if there is none.",
      }),
      used: t.exposeFloat('used', {
        nullable: true,
        description: 'Units used in the current window; null if each entity has a count.',
      }),
      reserved: t.exposeFloat('reserved', { nullable: true }),
      resetsAt: t.string({ nullable: true, resolve: (c) => isoTimeOrNull(c.resetsAt) }),
    }),
  })
  const list = builder.objectRef<CapsInForce>('CapsInForce').implement({
    fields: (t) => ({
      caps: t.expose('caps', { type: [inForce] }),
      more: t.exposeInt('more', { description: 'Number of caps that are not listed.' }),
    }),
  })
  const preview = builder.objectRef<CapPreview>('CapPreview').implement({
    description: 'Effect of setting a cap.',
    fields: (t) => ({
      limit: t.exposeFloat('limit', {
        nullable: true,
        description: "Current limit of the user's cap; null if there is none.",
      }),
      planLimit: t.exposeFloat('planLimit', {
        nullable: true,
        description: "Limit of the plan's cap that it would replace; null if there is none.",
      }),
      used: t.exposeFloat('used', { description: 'Usage in the current window that the cap would count.' }),
      reserved: t.exposeFloat('reserved'),
      resetsAt: t.string({ nullable: true, resolve: (c) => isoTimeOrNull(c.resetsAt) }),
    }),
  })
  queryFields(builder, (t, { appId, userId, featureId }) => ({
    userCaps: t.field({
      type: list,
      description: `Caps of a user, by feature: those set for the user, then those of the plans. At most ${MAX_LISTED_CAPS}.`,
      args: { appId, userId },
      resolve: async (_, { appId, userId }, context) =>
        userCaps(await inApp(appCall(context, appId)), userId),
    }),
    capPreview: t.field({
      type: preview,
      args: {
        appId,
        userId,
        featureId,
        entity: t.arg.string(),
        period: t.arg({ type: resetPeriod, required: true }),
      },
      resolve: async (_, { appId, userId, featureId, entity = null, period }, context) =>
        capPreview(await inApp(appCall(context, appId)), userId, featureId, { entity, period }),
    }),
  }))
  mutationFields(builder, (t, { appId, userId, featureId }) => ({
    setCap: t.field({
      type: cap,
      description: SET_CAP,
      args: { appId, input: t.arg({ type: capInput, required: true }) },
      resolve: async (_, { appId, input }, context) =>
        setCap(await inApp(appCall(context, appId)), { ...input, entity: input.entity ?? null }),
    }),
    removeCap: t.field({
      type: cap,
      nullable: true,
      description: REMOVE_CAP,
      args: {
        appId,
        userId,
        featureId,
        entity: t.arg.string(),
        period: t.arg({ type: resetPeriod, required: true }),
      },
      resolve: async (_, { appId, entity = null, ...of }, context) =>
        removeCap(await inApp(appCall(context, appId)), { ...of, entity }),
    }),
  }))
}
