import type { ChangeTime } from './change-time.ts'
import type { NewOverride } from './override.ts'

/**
 * A change of many users at once. It is checked by these rules, which are stricter than those of the operation for one
 * user: nothing that a provider charges for changes its price without a quote. The operation decides again when the
 * change is applied.
 */
export type BulkAction =
  | { kind: 'CHANGE_PLAN'; packageId: string; when: ChangeTime }
  | { kind: 'START_TRIAL'; packageId: string; days: number }
  | { kind: 'CANCEL'; atPeriodEnd: boolean }
  | { kind: 'SET_OVERRIDE'; override: NewOverride }

export const BULK_STATES = [
  'CHECKING',
  'CHECKED',
  'APPLYING',
  'APPLIED',
  'UNDOING',
  'UNDONE',
  // by a member, or because it could not continue
  'STOPPED',
  'FAILED',
] as const
export type BulkState = (typeof BULK_STATES)[number]

/** CHANGE and SKIP: the result of the check. The others are what became of a row. */
export const BULK_OUTCOMES = ['CHANGE', 'SKIP', 'DONE', 'REFUSED', 'UNDONE', 'KEPT'] as const
export type BulkOutcome = (typeof BULK_OUTCOMES)[number]

/** Why a row is skipped. */
export const BULK_REASONS = {
  NO_PLAN: 'No plan',
  ADD_ON: 'An add-on, not a plan',
  SAME_PLAN: 'Already on this plan',
  CHANGE_SCHEDULED: 'Another change is scheduled',
  CHARGED:
    'Charged by a billing provider; change it on the page of the user, where the provider quotes the cost',
  HAS_PLAN: 'Has a plan',
  HAD_TRIAL: 'Had a trial of this plan',
  HAS_OVERRIDE: 'Has an override of this feature',
  ENDED: 'Already cancelled',
  ENDING: 'Already ends at the end of its period',
} as const
export type BulkReason = keyof typeof BULK_REASONS

/** The subscription that the change is about: the listed one, or the live plan of a listed user. */
export interface BulkSubject {
  packageId: string
  isAddon: boolean
  provider: string | null
  cancelAt: number | null
  /** It has ended. */
  ended: boolean
  /** A successor is planned. */
  isFollowed: boolean
}

/** An immediate cancellation ends the subscription; a new one would start new periods. */
export const isUndoable = (action: BulkAction): boolean => action.kind !== 'CANCEL' || action.atPeriodEnd

/** Why the change does not apply; null: it does. `had`: an earlier trial of the plan, or an override of the feature. */
export function bulkRefusal(
  action: BulkAction,
  subject: BulkSubject | null,
  had: boolean,
): BulkReason | null {
  switch (action.kind) {
    case 'SET_OVERRIDE':
      // An exception that was made for one user stays.
      return had ? 'HAS_OVERRIDE' : null
    case 'START_TRIAL':
      if (subject) return 'HAS_PLAN'
      return had ? 'HAD_TRIAL' : null
    case 'CANCEL':
      if (!subject) return 'NO_PLAN'
      if (subject.ended) return 'ENDED'
      return action.atPeriodEnd && subject.cancelAt !== null ? 'ENDING' : null
    case 'CHANGE_PLAN':
      if (!subject) return 'NO_PLAN'
      if (subject.isAddon) return 'ADD_ON'
      if (subject.ended) return 'ENDED'
      if (subject.packageId === action.packageId) return 'SAME_PLAN'
      if (subject.isFollowed) return 'CHANGE_SCHEDULED'
      return subject.provider === null ? null : 'CHARGED'
  }
}
