import type { Catalogue } from '../../domain/catalogue.ts'
import { unavailable } from '../../domain/errors.ts'
import { isIdentifier } from '../../domain/identifier.ts'
import { MAX_STALE_READS } from '../../domain/limits.ts'
import { purseOf, spendable } from '../../domain/spending.ts'
import { type UserEntitlement, userEntitlement } from '../../domain/user-entitlement.ts'
import { type AppCache, type CachedApp, refusalOf } from '../../store/apps/app-cache.ts'
import type { Tx } from '../../store/connection/database.ts'
import { refusesData } from '../../store/connection/refused-data.ts'
import type { Question } from '../../store/usage/holding-questions.ts'
import type { Holding } from '../../store/usage/read-holdings.ts'
import type { UsageStore } from '../../store/usage/usage-store.ts'
import type { EntitlementQuestion, EntitlementState, PendingUsage } from '../call/hot-paths.ts'
import type { BatchResult } from './batcher.ts'

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

export const questionOf = ({ caller, event: { userId, featureId } }: PendingUsage): EntitlementQuestion => ({
  caller,
  userId,
  featureId,
})

export interface Reading {
  inTransaction?: boolean
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
  { inTransaction = false, queue }: Reading,
): Promise<BatchResult<EntitlementState>[]> {
  const answers = new Array<BatchResult<EntitlementState>>(questions.length)
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
        topic = { guess, from: asked.length, found: null }
        topics.set(name, topic)
        ask(asked, question, topic.guess)
      }
      return topic
    })
    if (asked.length === 0) break
    const holdings = await store.holdings(client, asked, { inTransaction }).catch(async (error: unknown) => {
      const retries = !inTransaction && (await store.isOutdated(client, error))
      if (!retries || !(await hasOtherLayout(apps, client, guesses))) throw error
      return null
    })
    if (!holdings) continue

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
        topic.found ??= { value: stand(app.catalogue, question, asked, holdings, topic.from, holding) }
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

/** Several questions of a batch may share one user and feature. */
interface Topic {
  guess: CachedApp | undefined
  /** the index of its first row among those requested */
  from: number
  found: BatchResult<EntitlementState> | null
}

/** One row to request, or one for each reset period the feature is granted with. */
function ask(asked: Question[], { caller, userId, featureId }: EntitlementQuestion, guess?: CachedApp): void {
  const { appId } = caller
  const feature = guess?.catalogue.features.get(featureId)
  const user = idOf(userId)
  const layout = guess?.layout ?? null
  const testClock = guess?.testClock ?? true
  if (!feature || feature.type === 'BINARY' || feature.resetPeriods.length === 0) {
    asked.push({ appId, userId: user, featureId: '', resetPeriod: null, spends: false, layout, testClock })
    return
  }
  let { spends } = feature
  for (const resetPeriod of feature.resetPeriods) {
    asked.push({ appId, userId: user, featureId, resetPeriod, spends, layout, testClock })
    spends = false
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

function stand(
  catalogue: Catalogue,
  { featureId }: EntitlementQuestion,
  asked: readonly Question[],
  holdings: readonly (Holding | undefined)[],
  from: number,
  holding: Holding,
): EntitlementState {
  const { uid, now, spending } = holding
  const holder = uid === null ? null : holding
  const entitlement = userEntitlement(catalogue, featureId, holder, now)
  const state: EntitlementState = {
    featureId,
    entitlement,
    holder,
    catalogue,
    now,
    uid,
    used: 0,
    counter: null,
    counted: false,
    spending,
    purse: null,
  }
  const counted = spending ? spendable(entitlement, spending, now) : metered(entitlement)
  if (!counted) return state
  const { allowance, period } = counted
  let at = from
  while (at < asked.length && asked[at]?.resetPeriod !== allowance.resetPeriod) at++
  const counter = holdings[at]?.counters.find(({ start }) => start === period.start)
  state.counter = counter?.ref ?? holding.ref
  if (counter) {
    state.used = counter.used
    state.counted = true
  }
  if (spending) state.purse = purseOf(counted, state.used, spending, now)
  return state
}

const metered = (entitlement: UserEntitlement) => (entitlement.kind === 'metered' ? entitlement : null)
