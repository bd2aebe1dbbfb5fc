import { type Grant, grantChanges } from '../grants.ts'
import { number, units } from '../ui/number.ts'

export type Reach = 'ALL' | 'NEW_ONLY' | 'AT_PERIOD_END'

export const REACH_LABELS: Record<Reach, string> = {
  ALL: 'All subscribers',
  NEW_ONLY: 'New subscribers only',
  AT_PERIOD_END: 'All subscribers, at period end',
}

interface Impact {
  subscribers: number
  gain: number
  lose: number
  moreOverage: number
  lessOverage: number
}

export const subscribers = (count: number) => units(count, 'subscriber', 'subscribers')

/** What publishing does to current subscribers, in a line. */
export function publishSummary(
  impact: Impact | null | undefined,
  reach: Reach,
  before: readonly Grant[],
  after: readonly Grant[],
): string {
  if (!impact) return 'Counting who is affected…'
  if (impact.subscribers === 0) return 'No subscribers yet'
  const who = subscribers(impact.subscribers)
  if (reach === 'NEW_ONLY') return `${who} ${impact.subscribers === 1 ? 'keeps' : 'keep'} the current version`
  const counts = [
    [impact.lose, impact.lose === 1 ? 'loses access' : 'lose access'],
    [impact.moreOverage, 'more overage'],
    [impact.gain, impact.gain === 1 ? 'gains access' : 'gain access'],
    [impact.lessOverage, 'less overage'],
  ] as const
  const parts = counts.filter(([count]) => count > 0).map(([count, what]) => `${number(count)} ${what}`)
  const differs = grantChanges(before, after).some(({ same }) => !same)
  const untouched = differs
    ? 'limits change, but nobody gains or loses access'
    : 'nobody gains or loses access'
  const when = reach === 'AT_PERIOD_END' ? ' when their period ends' : ''
  return `${who}: ${parts.join(', ') || untouched}${when}`
}
