import { unavailable } from '../../domain/errors.ts'
import { MAX_OVERTAKEN } from '../../domain/limits.ts'

/** What was decided before the locks were taken no longer fits: thrown to start again. */
export class Overtaken extends Error {}

/** Runs it, and again from the start whenever it was overtaken. */
export async function unlessOvertaken<T>(attempt: () => Promise<T>): Promise<T> {
  for (let tries = 1; tries <= MAX_OVERTAKEN; tries++) {
    try {
      return await attempt()
    } catch (error) {
      if (!(error instanceof Overtaken)) throw error
    }
  }
  throw unavailable('User temporarily unavailable; retry.')
}
