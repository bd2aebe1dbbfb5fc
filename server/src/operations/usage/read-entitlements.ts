import { unavailable } from '../../domain/errors.ts'
import { isIdentifier } from '../../domain/identifier.ts'
import { MAX_STALE_READS } from '../../domain/limits.ts'
import { type AppCache, type CachedApp, refusalOf } from '../../store/apps/app-cache.ts'
import type { Tx } from '../../store/connection/database.ts'
import { refusesData } from '../../store/connection/refused-data.ts'
import type { Question } from '../../store/usage/holding-questions.ts'
import type { Holding } from '../../store/usage/read-holdings.ts'
import type { UsageStore } from '../../store/usage/usage-store.ts'
import type { EntitlementQuestion, EntitlementState, PendingUsage } from '../call/hot-paths.ts'
import type { BatchResult } from './batcher.ts'
import type { CreditMemory } from './credit-memory.ts'
import { type AskedPool, stand } from './entitlement-state.ts'
import type { ReservationMemory } from './reservation-memory.ts'
import type { SpenderMemory } from './spender-memory.ts'

/**
 * Answers all questions with one statement; if PostgreSQL refuses it because of some data, each with its own, so that
 * only the one concerned fails. Inside a transaction, which such an error aborts, all of them fail.
 */
export function readEntitlements(
  store: UsageStore,
  apps: AppCache,
  client: Tx,
  questions: readonly EntitlementQuestion[],
  how: Reading = {},
): Promise<BatchResult<EntitlementState>[]> {
  const answers = readTogether(store, apps, client, questions, how)
  if (how.inTransaction || questions.length === 1) return answers
  return answers.catch((error) => {
    if (!refusesData(error)) throw error
    return readOneByOne(store, apps, client, questions, how)
  })
}

export const questionOf = ({
  caller,
  event: { userId, featureId, entities },
}: PendingUsage): EntitlementQuestion => ({ caller, userId, featureId, entities })

export interface Reading {
  inTransaction?: boolean
  /** without it, all credits are read */
  credits?: CreditMemory
  /** without it, calls about credits, reservations and caps are decided by what is read */
  spenders?: SpenderMemory
  /** the users of reservations */
  reservations?: ReservationMemory
  /** Only users of this queue are read: others may be on a server that takes long, and everybody in a batch waits for it. */
  queue?: string | null
}

/** The user belongs to another queue. */
export class WrongQueue extends Error {}

async function readOneByOne(
  store: UsageStore,
  apps: AppCache,
  client: Tx,
  questions: readonly EntitlementQuestion[],
  how: Reading,
): Promise<BatchResult<EntitlementState>[]> {
  const answers: BatchResult<EntitlementState>[] = []
  for (const question of questions) {
    try {
      answers.push(...(await readTogether(store, apps, client, [question], how)))
    } catch (error) {
      if (!refusesData(error)) throw error
      answers.push({ error })
    }
  }
  return answers
}

/**
 * The cached app says what to read, and where; the statement shows whether that was current. If not, the question is
 * asked again.
 */
async function readTogether(
  store: UsageStore,
  apps: AppCache,
  client: Tx,
  questions: readonly EntitlementQuestion[],
  { inTransaction = false, queue, credits }: Reading,
): Promise<BatchResult<EntitlementState>[]> {
  const answers = new Array<BatchResult<EntitlementState>>(questions.length)
  const entitiesOf = namedIn(questions)
  let open = questions.map((_, i) => i)
  for (let stale = 0; open.length > 0; stale++) {
    if (stale > MAX_STALE_READS) {
      const error = unavailable('The catalogue changed too often during the call; retry.')
      for (const i of open) answers[i] = { error }
      break
    }
    const asked: Question[] = []
    const guesses = new Map<string, CachedApp | undefined>()
    const topics = new Map<string, Topic>()
    const topicOf = open.map((i) => {
      const question = questions[i] as EntitlementQuestion
      const { appId } = question.caller
      const { userId, featureId } = question
      // Invalid ids are looked up too, and may contain anything: the length prefix keeps keys distinct.
      const user = idOf(userId)
      const name = `${appId} ${userId.length} ${userId}${featureId}`
      let topic = topics.get(name)
      if (!topic) {
        if (!guesses.has(appId)) guesses.set(appId, apps.known(appId))
        const guess = guesses.get(appId)
        const isElsewhere = () => store.queueOf(guess?.layout ?? null, appId, idOf(userId)) !== queue
        if (queue !== undefined && guess?.layout && isElsewhere()) {
          answers[i] = { error: new WrongQueue() }
          return null
        }
        const isHere = store.queueOf(guess?.layout ?? null, appId, user) === null
        const entities = entitiesOf(question)
        topic = { guess, from: asked.length, found: null, draw: null, entities, isHere }
        topics.set(name, topic)
        ask(asked, question, entities, topic.guess)
        if (isHere) topic.draw = askPool(asked, question, entities, topic.guess)
      }
      return topic
    })
    if (asked.length === 0) break
    for (const question of asked) if (question.spends) question.known = credits?.recall(question) ?? null
    const holdings = await store.holdings(client, asked, { inTransaction }).catch(async (error: unknown) => {
      const retries = !inTransaction && (await store.isOutdated(client, error))
      if (!retries || !(await hasOtherLayout(apps, client, guesses))) throw error
      return null
    })
    if (!holdings) continue
    if (credits) remember(credits, asked, holdings)

    const again: number[] = []
    const reloaded = new Map<string, CachedApp | null>()
    for (const [k, i] of open.entries()) {
      const question = questions[i] as EntitlementQuestion
      const topic = topicOf[k]
      if (!topic) continue
      const holding = holdings[topic.from]
      try {
        const { caller } = question
        if (!holding) throw refusalOf(caller)
        let app = apps.kept(caller.appId, holding.version) ?? reloaded.get(caller.appId)
        if (app === undefined) {
          app = await apps.reload(client, caller.appId)
          reloaded.set(caller.appId, app)
        }
        if (!app) throw refusalOf(caller)
        apps.admit(caller, app)
        if (app !== topic.guess) {
          again.push(i)
          continue
        }
        topic.found ??= { value: stand(app.catalogue, question, asked, holdings, topic, holding) }
        answers[i] = topic.found
      } catch (error) {
        answers[i] = { error }
      }
    }
    open = again
  }
  return answers
}

/** An invalid id matches nothing: the empty one is used for all of them. */
const idOf = (userId: string): string => (isIdentifier(userId) ? userId : '')

/**
 * The entities that the questions about a user name, of all features: one decision leaves its pool to the next. Few
 * questions name any.
 */
function namedIn(
  questions: readonly EntitlementQuestion[],
): (question: EntitlementQuestion) => readonly string[] {
  if (questions.every(({ entities }) => !entities?.length)) return () => []
  const named = new Map<string, Set<string>>()
  const nameOf = ({ caller: { appId }, userId }: EntitlementQuestion) => `${appId} ${userId}`
  for (const question of questions) {
    const name = nameOf(question)
    named.set(name, new Set([...(named.get(name) ?? []), ...(question.entities ?? [])]))
  }
  return (question) => [...(named.get(nameOf(question)) ?? [])]
}

/** Several questions of a batch may share one user and feature. */
interface Topic {
  guess: CachedApp | undefined
  /** the index of its first row among those requested */
  from: number
  found: BatchResult<EntitlementState> | null
  /** the pool that was asked about; null: none */
  draw: AskedPool | null
  entities: readonly string[]
  /** whether the user's data is on this server */
  isHere: boolean
}

/** One row to request, or one for each reset period the feature is granted with. */
function ask(
  asked: Question[],
  { caller, userId, featureId }: EntitlementQuestion,
  entities: readonly string[],
  guess?: CachedApp,
): void {
  const { appId } = caller
  const feature = guess?.catalogue.features.get(featureId)
  const user = idOf(userId)
  const layout = guess?.layout ?? null
  const testClock = guess?.testClock ?? true
  const add = (featureId: string, resetPeriod: Question['resetPeriod'], spends: boolean) =>
    // Without spreading objects, which took 5 % of the CPU of a check.
    asked.push({
      appId,
      userId: user,
      featureId,
      resetPeriod,
      spends,
      known: null,
      entities,
      layout,
      testClock,
    })
  if (!feature || feature.type === 'BINARY' || feature.resetPeriods.length === 0) {
    add('', null, false)
    return
  }
  let { spends } = feature
  for (const resetPeriod of feature.resetPeriods) {
    add(featureId, resetPeriod, spends)
    spends = false
  }
}

/** The rows of the pool that the feature draws on; null: none. They are part of the same statement. */
function askPool(
  asked: Question[],
  question: EntitlementQuestion,
  entities: readonly string[],
  guess?: CachedApp,
): AskedPool | null {
  const { featureId, drawnFrom } = question
  const draws = guess?.catalogue.features.get(featureId)?.pool ?? null
  const drawn = drawnFrom ?? draws?.featureId
  if (drawn === undefined) return null
  const open = draws?.featureId === drawn
  const from = asked.length
  ask(asked, { ...question, featureId: drawn }, entities, guess)
  return { featureId: drawn, cost: open ? draws.cost : 1, open, held: drawnFrom !== undefined, from }
}

function remember(
  credits: CreditMemory,
  asked: readonly Question[],
  holdings: readonly (Holding | undefined)[],
): void {
  for (const [i, question] of asked.entries()) {
    const { uid, spending } = holdings[i] ?? {}
    if (uid == null || !spending) continue
    credits.keep(question, { uid, version: spending.version, credits: spending.credits })
  }
}

/** Whether users of these apps are not where they were believed to be; it is known now. */
async function hasOtherLayout(
  apps: AppCache,
  client: Tx,
  guesses: ReadonlyMap<string, CachedApp | undefined>,
): Promise<boolean> {
  let found = false
  for (const [appId, guess] of guesses) {
    const app = await apps.reload(client, appId)
    if (app?.layout && app !== guess) found = true
  }
  return found
}
