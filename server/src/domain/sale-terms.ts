import { badUserInput } from './errors.ts'
import { MAX_TRIAL_DAYS } from './limits.ts'

/** What a payment link offers beside its prices. */
export interface SaleTerms {
  /** null: it is paid at once */
  trialDays: number | null
  /** false: a trial that starts without a card ends when it is over, unless one was given */
  trialNeedsCard: boolean
  /** the payer may enter codes that the provider knows */
  promotionCodes: boolean
}

export const PLAIN_TERMS: SaleTerms = { trialDays: null, trialNeedsCard: true, promotionCodes: false }

export function checkTerms(terms: SaleTerms): SaleTerms {
  const { trialDays } = terms
  if (trialDays !== null && (!Number.isInteger(trialDays) || trialDays < 1 || trialDays > MAX_TRIAL_DAYS)) {
    throw badUserInput(`trialDays must be from 1 to ${MAX_TRIAL_DAYS}`, 'trialDays')
  }
  return terms
}

/** The terms for one payer. Nobody tries the same package twice. */
export function termsFor(terms: SaleTerms, hasTried: boolean): SaleTerms {
  return hasTried ? { ...terms, trialDays: null } : terms
}

/** Whether the payer has to enter a card before anything starts. */
export const asksForCard = ({ trialDays, trialNeedsCard }: SaleTerms): boolean =>
  trialDays === null || trialNeedsCard
