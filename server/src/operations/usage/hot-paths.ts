import { unavailable } from '../../domain/errors.ts'
import { MAX_STALE_READS } from '../../domain/limits.ts'
import type { AppCache } from '../../store/app-cache.ts'
import type { CellPools } from '../../store/cell-pools.ts'
import type { FoundStanding, HotPaths, PendingUsage, Recorded, StandingQuestion } from '../call/hot-paths.ts'
import type { BatchResult } from './batcher.ts'
import { isElsewhere, type LaneSettings, Lanes } from './lanes.ts'

/**
 * `read` and `record`, each with batches of its own. Where there are several cells, each has its own lanes, and a call
 * whose user turns out to be in another is asked again there.
 */
export class UsagePaths implements HotPaths {
  readonly #apps: AppCache
  readonly #pools: CellPools
  readonly #settings: LaneSettings
  /** for a single cell */
  readonly #home: Lanes
  readonly #cells = new Map<string, Lanes>()

  constructor(pools: CellPools, settings: Omit<LaneSettings, 'elsewhere'>) {
    this.#apps = settings.apps
    this.#pools = pools
    this.#settings = {
      ...settings,
      elsewhere: {
        read: (questions, results) =>
          this.#again('checks', questions, results, (question) => this.read(question)),
        record: (pending, results) => this.#again('records', pending, results, (usage) => this.record(usage)),
      },
    }
    this.#home = new Lanes(pools.home, this.#settings)
    settings.metrics.watchQueue(
      'check',
      this.#queueOf((lanes) => lanes.checks),
    )
    settings.metrics.watchQueue(
      'record',
      this.#queueOf((lanes) => lanes.records),
    )
  }

  read(question: StandingQuestion): Promise<FoundStanding> {
    return this.#lanesFor(question.caller.appId, question.userId).read(question)
  }

  record(usage: PendingUsage): Promise<Recorded> {
    return this.#lanesFor(usage.caller.appId, usage.event.userId).record(usage)
  }

  oldestSeconds(): number {
    return Math.max(...this.#all().map((lanes) => lanes.oldestSeconds()))
  }

  /** Returns the connections to the pools. */
  release(): void {
    for (const lanes of this.#all()) lanes.release()
  }

  #all(): Lanes[] {
    return [this.#home, ...this.#cells.values()]
  }

  #lanesFor(appId: string, userId: string): Lanes {
    const schema = this.#apps.known(appId)?.cells?.schemaOf(appId, userId)
    if (schema === undefined) return this.#home
    let lanes = this.#cells.get(schema)
    if (!lanes) {
      lanes = new Lanes(this.#pools.of(schema), { ...this.#settings, lanes: 1 })
      this.#cells.set(schema, lanes)
    }
    return lanes
  }

  /**
   * Has what was asked in the wrong cell answered in the right one. The batch does not wait for that: two cells whose users
   * change places would wait for each other.
   */
  async #again<Item extends { caller: { appId: string } }, Answer>(
    kind: 'checks' | 'records',
    items: readonly Item[],
    results: BatchResult<Answer>[],
    ask: (item: Item) => Promise<Answer>,
  ): Promise<BatchResult<Answer | Promise<Answer>>[]> {
    const appIds = new Set(items.map(({ caller }) => caller.appId))
    for (const appId of appIds) await this.#apps.reload(this.#pools.home, appId)
    const strays: Item[] = []
    const answers = results.map((result, i) => {
      const item = items[i] as Item
      // With one cell, nothing is elsewhere: the error is what it says.
      if (!isElsewhere(result) || !this.#apps.known(item.caller.appId)?.cells) return result
      const times = (this.#astray.get(item) ?? 0) + 1
      this.#astray.set(item, times)
      if (times > MAX_STALE_READS) return { error: unavailable('The user kept being moved; try again') }
      strays.push(item)
      return { value: ask(item) }
    })
    // They are counted where they are answered.
    this.#settings.activity.count(kind, strays, -1)
    return answers
  }
  /** how often a call was asked in the wrong cell */
  readonly #astray = new WeakMap<object, number>()

  #queueOf(of: (lanes: Lanes) => { waiting: number; oldestSeconds(): number }) {
    const all = () => this.#all().map(of)
    return {
      get waiting() {
        return all().reduce((sum, queue) => sum + queue.waiting, 0)
      },
      oldestSeconds: () => Math.max(...all().map((queue) => queue.oldestSeconds())),
    }
  }
}
