import { removeAutoRecharge, setAutoRecharge } from '../../operations/billing/auto-recharge.ts'
import { generateCreditLink } from '../../operations/billing/generate-credit-link.ts'
import { addCredit } from '../../operations/credits/add-credit.ts'
import { removeCap, setCap } from '../../operations/credits/caps.ts'
import { extendReservation } from '../../operations/credits/extend-reservation.ts'
import { releaseReservation } from '../../operations/credits/release-reservation.ts'
import { reserveUsage } from '../../operations/credits/reserve-usage.ts'
import { settleReservation } from '../../operations/credits/settle-reservation.ts'
import { voidCredit } from '../../operations/credits/void-credit.ts'
import type { AdminMutation } from '../../operations/registry/registry.ts'
import type { Builder } from '../types/builder.ts'
import { REMOVE_CAP, SET_CAP } from '../types/cap-types.ts'
import { ADD_CREDIT, RELEASE, VOID_CREDIT } from '../types/credit-types.ts'
import { newCredit, newReservation } from '../types/inputs.ts'
import { newRecharge, REMOVE_RECHARGE, SAVE_CARD, SET_RECHARGE } from '../types/recharge-types.ts'
import { type AdminContext, mutationCall } from './context.ts'
import type { AdminTypes } from './types.ts'

/** Credits, caps, reservations and automatic recharges. */
export function defineCreditMutations(builder: Builder<AdminContext>, types: AdminTypes): void {
  const { inputs } = types
  builder.mutationFields((t) => {
    const id = t.arg.string({ required: true })
    const userId = t.arg.string({ required: true })
    return {
      addCredit: t.field({
        type: types.credit,
        description: ADD_CREDIT,
        args: { input: t.arg({ type: inputs.credit, required: true }) },
        resolve: (_, { input }, context, info) => addCredit(mutationCall(context, info), newCredit(input)),
      }),
      voidCredit: t.field({
        type: types.credit,
        description: VOID_CREDIT,
        args: { id, reason: t.arg.string() },
        resolve: (_, { id, reason }, context, info) =>
          voidCredit(mutationCall(context, info), id, reason ?? null),
      }),
      setCap: t.field({
        type: types.cap,
        description: SET_CAP,
        args: { input: t.arg({ type: inputs.cap, required: true }) },
        resolve: (_, { input }, context, info) =>
          setCap(mutationCall(context, info), { ...input, entity: input.entity ?? null }),
      }),
      removeCap: t.field({
        type: types.cap,
        nullable: true,
        description: REMOVE_CAP,
        args: {
          userId: t.arg.string({ required: true }),
          featureId: t.arg.string({ required: true }),
          entity: t.arg.string(),
          period: t.arg({ type: types.resetPeriod, required: true }),
        },
        resolve: (_, { entity = null, ...of }, context, info) =>
          removeCap(mutationCall(context, info), { ...of, entity }),
      }),
      setAutoRecharge: t.field({
        type: types.autoRecharge,
        description: SET_RECHARGE,
        args: { input: t.arg({ type: inputs.autoRecharge, required: true }) },
        resolve: (_, { input }, context, info) =>
          setAutoRecharge(mutationCall(context, info), newRecharge(input)),
      }),
      removeAutoRecharge: t.field({
        type: types.autoRecharge,
        nullable: true,
        description: REMOVE_RECHARGE,
        args: {
          userId: t.arg.string({ required: true }),
          featureId: t.arg.string({ required: true }),
        },
        resolve: (_, of, context, info) => removeAutoRecharge(mutationCall(context, info), of),
      }),
      reserveUsage: t.field({
        type: types.reservation,
        description:
          'Holds units of a feature until they are settled or released, or the reservation expires. If too few are left, `reserved` is 0 and `reason` says why.',
        args: { input: t.arg({ type: inputs.reservation, required: true }) },
        resolve: (_, { input }, context, info) =>
          reserveUsage(mutationCall(context, info), newReservation(input)),
      }),
      extendReservation: t.field({
        type: types.reservation,
        description:
          'Postpones the expiry of a live reservation to `ttlSeconds` from now, adds units to it, or both. If the units are not available, nothing is changed and `reason` says why.',
        args: { id, ttlSeconds: t.arg.int(), add: t.arg({ type: 'SafeInt' }) },
        resolve: (_, { id, ttlSeconds = null, add = null }, context, info) =>
          extendReservation(mutationCall(context, info), id, { ttlSeconds, add }),
      }),
      settleReservation: t.field({
        type: types.reservation,
        description:
          'Records the usage of reserved units. A final settlement returns the rest. Units beyond the reservation, or settled after its expiry, are treated like a call of recordUsage.',
        args: {
          id,
          amount: t.arg({ type: 'SafeInt', required: true }),
          final: t.arg.boolean({ defaultValue: true }),
          ifOver: t.arg({ type: types.ifOver, defaultValue: 'RECORD' }),
        },
        resolve: (_, { id, amount, final, ifOver }, context, info) =>
          settleReservation(mutationCall(context, info), id, {
            amount,
            final: final ?? true,
            ifOver: ifOver ?? 'RECORD',
          }),
      }),
      releaseReservation: t.field({
        type: types.reservation,
        description: RELEASE,
        args: { id },
        resolve: (_, { id }, context, info) => releaseReservation(mutationCall(context, info), id),
      }),
      generateCreditLink: t.field({
        type: types.creditLink,
        description:
          'Generates a payment link for credits. Once the user has paid, the credits are added; do not call addCredit.',
        args: {
          userId,
          priceId: t.arg.string({
            required: true,
            description: 'ID of a price of credits, created in the dashboard.',
          }),
          quantity: t.arg.int({
            defaultValue: 1,
            description: 'How many times to sell the price at once.',
          }),
          successUrl: t.arg.string({ required: true }),
          cancelUrl: t.arg.string({ required: true }),
          saveCard: t.arg.boolean({ defaultValue: false, description: SAVE_CARD }),
        },
        resolve: (_, { quantity, saveCard, ...input }, context, info) =>
          generateCreditLink(mutationCall(context, info), {
            ...input,
            quantity: quantity ?? 1,
            saveCard: saveCard ?? false,
          }),
      }),
    } satisfies Partial<Record<AdminMutation, unknown>>
  })
}
