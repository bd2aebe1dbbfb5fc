import type { Result } from '../types.ts'
import type { ClientOperation } from './documents.ts'

/** Questions that a page may ask about its user. */
export type Question =
  | { about: 'check'; featureId: string; delta: number }
  | { about: 'usage'; featureId: string }
  | { about: 'packages' }
  | { about: 'subscriptions' }

/** Keeps non-strings recognisable: JSON would omit undefined. */
export const checkKey = (featureId: string, delta: number): string =>
  keyOf({ about: 'check', featureId: featureId ?? null, delta })
export const usageKey = (featureId: string): string => keyOf({ about: 'usage', featureId: featureId ?? null })
export const PACKAGES_KEY = keyOf({ about: 'packages' })
export const SUBSCRIPTIONS_KEY = keyOf({ about: 'subscriptions' })

/** A question as a string: equal questions are equal strings. */
function keyOf(question: Question): string {
  return JSON.stringify(question)
}

type Send = <Data>(operation: ClientOperation, variables: object) => Promise<Result<Data>>

/** The maximum number of checks in one request. */
const MAX_BATCH = 100

/** Asks them all at once; plain checks share requests. Answers by key. */
export async function askAll(keys: readonly string[], send: Send): Promise<Map<string, Result<unknown>>> {
  const answers = new Map<string, Result<unknown>>()
  const plain: { key: string; featureId: string }[] = []
  const under: Promise<void>[] = []
  for (const key of keys) {
    const question: Question = JSON.parse(key)
    if (question.about === 'check' && question.delta === 1 && typeof question.featureId === 'string')
      plain.push({ key, featureId: question.featureId })
    else under.push(askOne(question, send).then((answer) => void answers.set(key, answer)))
  }
  for (let from = 0; from < plain.length; from += MAX_BATCH) {
    const batch = plain.slice(from, from + MAX_BATCH)
    const featureIds = batch.map(({ featureId }) => featureId)
    under.push(
      send<unknown[]>('canUseFeatures', { featureIds }).then((answer) => {
        for (const [i, { key }] of batch.entries())
          answers.set(key, answer.error ? answer : { data: answer.data[i], error: null })
      }),
    )
  }
  await Promise.all(under)
  return answers
}

async function askOne(question: Question, send: Send): Promise<Result<unknown>> {
  switch (question.about) {
    case 'check':
      return send('canUseFeature', { featureId: question.featureId, delta: question.delta })
    case 'usage': {
      const answer = await send<{ current: unknown }>('showUsage', { featureId: question.featureId })
      return answer.error ? answer : { data: answer.data.current, error: null }
    }
    default:
      return send(question.about, {})
  }
}
