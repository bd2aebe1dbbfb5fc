import { CREDIT_KINDS, CREDIT_STATES } from '../../domain/credit.ts'
import type { UserReservation } from '../../domain/reservation.ts'
import { RESERVATION_STATES } from '../../domain/reservation.ts'
import type { UserCredit } from '../../operations/credits/credits.ts'
import type { Builder } from './builder.ts'
import { isoTime, isoTimeOrNull } from './time.ts'

export const CREDIT_LIST =
  "A user's credits, oldest first. At most 500 are returned; pass the last ID as `after` to continue."
export const RESERVATION_LIST =
  "A user's reservations, oldest first. At most 500 are returned; pass the last ID as `after` to continue."
export const ADD_CREDIT =
  'Adds units of a consumable feature that the user can use in addition to the plan. They first pay for usage of the current period beyond all other sources.'
export const VOID_CREDIT =
  'Voids a credit: its remaining units can no longer be used. Live reservations keep what they hold of it.'
export const RELEASE = 'Releases a reservation and returns its units.'

export function defineCreditTypes<Context extends object>(builder: Builder<Context>) {
  const creditKind = builder.enumType('CreditKind', { values: CREDIT_KINDS })
  const creditState = builder.enumType('CreditState', {
    description:
      'SCHEDULED: not effective yet. LIVE: can be used. SPENT: used up. EXPIRED: past its expiry. VOIDED: voided by voidCredit, or refunded in full before it was used.',
    values: CREDIT_STATES,
  })
  const reservationState = builder.enumType('ReservationState', {
    description:
      'HELD: units are held. SETTLED: usage was recorded. RELEASED: the units were returned, or none were held. EXPIRED: not settled before the expiry.',
    values: RESERVATION_STATES,
  })
  return {
    creditKind,
    creditState,
    reservationState,
    credit: builder.objectRef<UserCredit>('Credit').implement({
      description: 'Units of a feature that a user can use in addition to the plan.',
      fields: (t) => ({
        id: t.exposeString('id'),
        userId: t.exposeString('userId'),
        featureId: t.exposeString('featureId'),
        amount: t.exposeFloat('amount'),
        used: t.exposeFloat('used'),
        bought: t.float({
          nullable: true,
          description:
            'Units that were paid for; null for a credit not bought through a payment link. Refunds may have reduced `amount`.',
          resolve: (credit) => credit.bought,
        }),
        provider: t.exposeString('provider', {
          nullable: true,
          description: 'Billing provider at which it was paid; null for a credit not bought.',
        }),
        reserved: t.exposeFloat('reserved', { description: 'Units held by live reservations.' }),
        kind: t.expose('kind', { type: creditKind }),
        priority: t.exposeInt('priority', {
          description: 'Sources with a lower priority are used first. The plan has priority 50.',
        }),
        effectiveAt: t.string({ resolve: (c) => isoTime(c.effectiveAt) }),
        expiresAt: t.string({ nullable: true, resolve: (c) => isoTimeOrNull(c.expiresAt) }),
        state: t.expose('state', { type: creditState }),
        reason: t.exposeString('reason', {
          nullable: true,
          description: 'Internal note, not visible to users.',
        }),
      }),
    }),
    reservation: builder.objectRef<UserReservation>('Reservation').implement({
      description: 'Units held for work whose usage is not known yet.',
      fields: (t) => ({
        id: t.exposeString('id'),
        userId: t.exposeString('userId'),
        featureId: t.exposeString('featureId'),
        reserved: t.exposeFloat('reserved', {
          description: 'Units held now; 0 once the reservation is settled, released or expired.',
        }),
        settled: t.exposeFloat('settled', { description: 'Units recorded by settleReservation.' }),
        state: t.expose('state', { type: reservationState }),
        createdAt: t.string({ resolve: (r) => isoTime(r.createdAt) }),
        expiresAt: t.string({ resolve: (r) => isoTime(r.expiresAt) }),
        late: t.exposeBoolean('late', { description: 'Whether usage was settled after the expiry.' }),
        reason: t.exposeString('reason', {
          nullable: true,
          description:
            'Reason why nothing was held or changed, or a description of the usage recorded beyond the reservation.',
        }),
      }),
    }),
    creditInput: builder.inputType('CreditInput', {
      fields: (t) => ({
        id: t.string({
          description: 'Adding the same credit again under the same ID has no effect. Generated if omitted.',
        }),
        userId: t.string({ required: true }),
        featureId: t.string({ required: true }),
        amount: t.field({ type: 'SafeInt', required: true }),
        kind: t.field({ type: creditKind, description: 'Defaults to PROMOTIONAL.' }),
        priority: t.int({
          description:
            'From 0 to 1000. Sources with a lower priority are used first. Defaults to 50, as the plan has.',
        }),
        effectiveAt: t.string({ description: 'Start (ISO 8601). Defaults to now.' }),
        expiresAt: t.string({
          description: 'Expiry (ISO 8601), in the future. If omitted, the credit does not expire.',
        }),
        reason: t.string({ description: 'Internal note, not visible to users.' }),
      }),
    }),
  }
}
