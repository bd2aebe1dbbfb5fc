import { ApiError } from './api-error.ts'

/** Longer than the service takes to say that it has no answer. */
const READ_MS = 15_000
/** A change may wait for a payment provider. */
const CHANGE_MS = 60_000
/** For what looks at all users of an app; the service gives itself as long. */
export const OVER_ALL_USERS_MS = 5 * 60 * 1_000

/** How long an answer is waited for. */
export const patienceFor = (document: unknown): number => (isChange(document) ? CHANGE_MS : READ_MS)

/** Does `work` with a signal that aborts after so many milliseconds, and rejects then, whatever becomes of the work. */
export async function answerInTime<Result>(
  document: unknown,
  ms: number,
  work: (signal: AbortSignal) => Promise<Result>,
): Promise<Result> {
  const controller = new AbortController()
  let timer: ReturnType<typeof setTimeout> | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      reject(new ApiError('NO_ANSWER', noAnswer(document, ms)))
      controller.abort()
    }, ms)
  })
  try {
    return await Promise.race([work(controller.signal), late])
  } finally {
    clearTimeout(timer)
  }
}

const isChange = (document: unknown): boolean => String(document).trimStart().startsWith('mutation')

const noAnswer = (document: unknown, ms: number): string =>
  `Tollgate did not respond within ${ms / 1_000} seconds. ${
    isChange(document)
      ? 'The change may have been saved. Check before you try again.'
      : 'Check your connection and try again.'
  }`
