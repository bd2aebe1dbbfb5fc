import { unavailable } from '../../domain/errors.ts'
import { MAX_STALE_READS } from '../../domain/limits.ts'
import type { AppCache } from '../../store/app-cache.ts'
import { type CellPools, Elsewhere } from '../../store/cell-pools.ts'
import { metAView } from '../../store/cells.ts'
import type { FoundStanding, HotPaths, PendingUsage, Recorded, StandingQuestion } from '../call/hot-paths.ts'
import type { BatchResult } from './batcher.ts'
import { type LaneSettings, Lanes } from './lanes.ts'

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

  /** Answers what was asked in the wrong cell. By now, the cached app knows the right one. */
  async #again<Item extends { caller: { appId: string } }, Answer>(
    kind: 'checks' | 'records',
    items: readonly Item[],
    results: BatchResult<Answer>[],
    ask: (item: Item) => Promise<Answer>,
  ): Promise<BatchResult<Answer>[]> {
    const strays = results.flatMap((result, i) => (isElsewhere(result) ? [i] : []))
    if (strays.length === 0) return results
    const answers = [...results]
    // They are counted where they are answered.
    this.#settings.activity.count(
      kind,
      strays.map((i) => items[i] as Item),
      -1,
    )
    for (const appId of new Set(strays.map((i) => (items[i] as Item).caller.appId)))
      await this.#apps.reload(this.#pools.home, appId)
    await Promise.all(
      strays.map(async (i) => {
        const item = items[i] as Item
        const times = (this.#astray.get(item) ?? 0) + 1
        this.#astray.set(item, times)
        answers[i] =
          times > MAX_STALE_READS
            ? { error: unavailable('The user kept being moved; try again') }
            : await ask(item).then(
                (value) => ({ value }),
                (error: unknown) => ({ error }),
              )
      }),
    )
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

const isElsewhere = (result: BatchResult<unknown>): boolean =>
  'error' in result && (result.error instanceof Elsewhere || metAView(result.error))
