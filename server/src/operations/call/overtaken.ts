import { unavailable } from '../../domain/errors.ts'
import { MAX_OVERTAKEN } from '../../domain/limits.ts'

/** A decision made before the locks were taken is outdated: thrown to start again. */
export class Overtaken extends Error {}

/** Retries whenever it was overtaken. */
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
