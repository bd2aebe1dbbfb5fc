import type { Catalogue } from '../domain/catalogue.ts'
import { unauthenticated } from '../domain/errors.ts'
import { isIdentifier } from '../domain/identifier.ts'
import type { ResetPeriod } from '../domain/period.ts'
import { type Standing, standingOf } from '../domain/standing.ts'
import type { Caller } from '../store/app-cache.ts'
import type { Db } from '../store/database.ts'
import { type Holding, type Question, readHoldings } from '../store/read-holdings.ts'
import type { Service } from './call.ts'

export interface StandingQuestion {
  caller: Caller
  userId: string
  featureId: string
}

/** How a user stands towards a feature at one moment, and what the counter said then. */
export interface FoundStanding {
  featureId: string
  standing: Standing
  used: number
  now: number
  uid: number | null
  /** false: nothing was counted in this period yet, so there is no row to move */
  counted: boolean
}

/** Answers all questions from one statement, unless the catalogue moved meanwhile. */
export async function standings(
  service: Service,
  db: Db,
  questions: readonly StandingQuestion[],
): Promise<FoundStanding[]> {
  for (;;) {
    const asked: Question[] = []
    const spans = questions.map((question) => {
      const from = asked.length
      for (const resetPeriod of resetPeriodsOf(service, question)) {
        asked.push({
          appId: question.caller.appId,
          // An impossible id is nobody's: the empty one stands for all of them.
          userId: isIdentifier(question.userId) ? question.userId : '',
          featureId: isIdentifier(question.featureId) ? question.featureId : '',
          resetPeriod,
        })
      }
      return { from, to: asked.length }
    })
    const guesses = new Map(
      questions.map((q) => [q.caller.appId, service.apps.known(q.caller.appId)?.version]),
    )
    const holdings = await readHoldings(db, asked)

    let guessedRight = true
    const found: FoundStanding[] = []
    for (const [i, question] of questions.entries()) {
      const span = spans[i]
      const answers = holdings.slice(span?.from, span?.to)
      const holding = answers[0]
      if (!holding) throw unauthenticated()
      const app = await service.apps.confirm(db, question.caller, holding.version)
      if (holding.version !== guesses.get(question.caller.appId)) guessedRight = false
      found.push(stand(app.catalogue, question, asked.slice(span?.from, span?.to), answers, holding))
    }
    if (guessedRight) return found
  }
}

/** The kinds of period in which the feature may be counted, as far as we know: nearly always just one. */
function resetPeriodsOf(service: Service, question: StandingQuestion): Iterable<ResetPeriod | null> {
  const feature = service.apps.known(question.caller.appId)?.catalogue.features.get(question.featureId)
  if (!feature || feature.type === 'BINARY') return [null]
  const kinds = new Set<ResetPeriod>()
  for (const p of feature.packages) {
    for (const f of p.features) if (f.featureId === feature.id) kinds.add(f.resetPeriod)
  }
  return kinds.size === 0 ? [null] : kinds
}

function stand(
  catalogue: Catalogue,
  { featureId }: StandingQuestion,
  asked: readonly Question[],
  answers: readonly (Holding | undefined)[],
  { uid, now, live }: Holding,
): FoundStanding {
  const standing = standingOf(catalogue, featureId, uid === null ? null : live, now)
  if (standing.kind !== 'metered') return { featureId, standing, used: 0, now, uid, counted: false }
  const { allowance, period } = standing
  const counter = answers[asked.findIndex((q) => q.resetPeriod === allowance.resetPeriod)]?.counter
  const counted = counter?.start === period.start
  return { featureId, standing, used: counted ? counter.used : 0, now, uid, counted }
}
