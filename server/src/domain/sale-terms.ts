import { badUserInput } from './errors.ts'
import { MAX_TRIAL_DAYS } from './limits.ts'

/** Terms of a payment link other than its prices. */
export interface SaleTerms {
  /** null: charged immediately */
  trialDays: number | null
  /** false: a trial that starts without a card ends the subscription unless one was added */
  trialNeedsCard: boolean
  /** the payer may enter the provider's promotion codes */
  promotionCodes: boolean
  /** of a template: the payer chooses how often to pay, among the intervals that all packages have; absent: no */
  choosesInterval?: boolean
  /** the provider saves the card of a one-off payment for later charges; absent: it does not */
  saveCard?: boolean
}

export const PLAIN_TERMS: SaleTerms = { trialDays: null, trialNeedsCard: true, promotionCodes: false }

export function checkTerms(terms: SaleTerms): SaleTerms {
  const { trialDays } = terms
  if (trialDays !== null && (!Number.isInteger(trialDays) || trialDays < 1 || trialDays > MAX_TRIAL_DAYS)) {
    throw badUserInput(`trialDays must be from 1 to ${MAX_TRIAL_DAYS}`, 'trialDays')
  }
  return terms
}

/** The terms for one payer. Nobody gets a second trial of a package. */
export function termsFor(terms: SaleTerms, hasTried: boolean): SaleTerms {
  return hasTried ? { ...terms, trialDays: null } : terms
}

/** Whether the payer has to enter a card before anything starts. */
export const asksForCard = ({ trialDays, trialNeedsCard }: SaleTerms): boolean =>
  trialDays === null || trialNeedsCard
