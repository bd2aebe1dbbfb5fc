import type { Pool } from '../../store/database.ts'
import { beat, forgetWorkers, freeJobsOf, type WorkerBeat } from '../../store/jobs.ts'

/** How often a worker shows that it is alive, and looks at the others. */
export const BEAT_MS = 2_000
/** A worker that stood still for so many looks is dead. */
const DEAD_AFTER_LOOKS = 4

/**
 * Finds the jobs that a dead process had in hand. Looks are counted instead of seconds: a clock that steps makes nobody
 * look dead, and a process that was held up itself has seen less, not more. Jobs may be done twice, so a worker that
 * was only slow does no harm when it comes back.
 */
export class JobWorkers {
  #own: readonly string[] = []
  #seen = new Map<string, { beats: number; looks: number }>()

  /** The workers of this process, from now on: those before them do nothing more. */
  own(ids: readonly string[]): void {
    this.#own = ids
  }

  /** Shows that this process is alive, and frees what dead ones held. Returns the dead workers. */
  async look(pool: Pool): Promise<string[]> {
    const all = await beat(pool, this.#own)
    const dead = all.filter((worker) => this.#isDead(worker))
    this.#seen = new Map(all.map(({ id, beats }) => [id, { beats, looks: this.#looksAt(id, beats) }]))
    if (dead.length > 0) await freeJobsOf(pool, dead)
    return dead.map(({ id }) => id)
  }

  /** They stopped in order and hold nothing: nobody is to take them for dead. */
  async leave(pool: Pool): Promise<void> {
    await forgetWorkers(pool, this.#own)
  }

  #isDead({ id, beats }: WorkerBeat): boolean {
    return !this.#own.includes(id) && this.#looksAt(id, beats) >= DEAD_AFTER_LOOKS
  }

  /** How often it was seen at the same beat, before this time. */
  #looksAt(id: string, beats: number): number {
    const seen = this.#seen.get(id)
    return seen?.beats === beats ? seen.looks + 1 : 0
  }
}
