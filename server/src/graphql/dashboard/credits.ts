import { inApp } from '../../operations/apps/apps.ts'
import { addCredit } from '../../operations/credits/add-credit.ts'
import { credits } from '../../operations/credits/credits.ts'
import { releaseReservation } from '../../operations/credits/release-reservation.ts'
import { reservations } from '../../operations/credits/reservations.ts'
import { voidCredit } from '../../operations/credits/void-credit.ts'
import type { Builder } from '../types/builder.ts'
import {
  ADD_CREDIT,
  CREDIT_LIST,
  defineCreditTypes,
  RELEASE,
  RESERVATION_LIST,
  VOID_CREDIT,
} from '../types/credit-types.ts'
import { newCredit } from '../types/inputs.ts'
import { appCall, type DashboardContext } from './context.ts'
import { mutationFields, queryFields } from './fields.ts'

/** Credits and reservations. */
export function defineCredits(builder: Builder<DashboardContext>): void {
  const types = defineCreditTypes(builder)
  queryFields(builder, (t, { appId, userId }) => ({
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
