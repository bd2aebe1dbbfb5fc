import type { Pool } from '../../store/connection/database.ts'
import { beat, forgetWorkers, freeJobsOf, type WorkerBeat } from '../../store/jobs/jobs.ts'

/** How often a worker reports that it is alive, and checks the others. */
export const BEAT_MS = 2_000
/** A worker whose counter is unchanged for this many checks is dead. */
const DEAD_AFTER_LOOKS = 4

/**
 * Finds the jobs of dead processes. Checks are counted instead of seconds, so that a clock step makes nobody look dead
 * and a stalled process sees fewer checks, not more. Jobs may run twice, so a worker that was only slow does no harm.
 */
export class JobWorkers {
  #own: readonly string[] = []
  #seen = new Map<string, { beats: number; looks: number }>()

  /** Replaces the workers of this process: the previous ones have stopped. */
  own(ids: readonly string[]): void {
    this.#own = ids
  }

  /** Reports this process as alive, and frees the jobs of dead ones. Returns the dead workers. */
  async look(pool: Pool): Promise<string[]> {
    const all = await beat(pool, this.#own)
    const dead = all.filter((worker) => this.#isDead(worker))
    this.#seen = new Map(all.map(({ id, beats }) => [id, { beats, looks: this.#looksAt(id, beats) }]))
    if (dead.length > 0) await freeJobsOf(pool, dead)
    return dead.map(({ id }) => id)
  }

  /** Removes the workers of this process, which have stopped. */
  async leave(pool: Pool): Promise<void> {
    await forgetWorkers(pool, this.#own)
  }

  #isDead({ id, beats }: WorkerBeat): boolean {
    return !this.#own.includes(id) && this.#looksAt(id, beats) >= DEAD_AFTER_LOOKS
  }

  /** How many earlier checks saw the same number. */
  #looksAt(id: string, beats: number): number {
    const seen = this.#seen.get(id)
    return seen?.beats === beats ? seen.looks + 1 : 0
  }
}
