import cluster from 'node:cluster'
import { AggregatorRegistry, Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'

export const METRICS_TYPE = Registry.PROMETHEUS_CONTENT_TYPE

/** A worker's request to the primary, and the reply. */
export interface MetricsMessage {
  type: 'metrics'
  text?: string
  /** reason why there is no text */
  failed?: string
}

/** Maintenance that runs beside requests. */
const UPKEEP = ['ledger', 'statistics', 'pruning', 'usage-hours'] as const

export class Metrics {
  readonly #registry = new Registry()

  readonly requests = new Counter({
    name: 'tollgate_requests_total',
    help: 'Number of requests by endpoint and outcome (ok, or the code of the first error).',
    labelNames: ['endpoint', 'outcome'] as const,
    registers: [this.#registry],
  })

  readonly seconds = new Histogram({
    name: 'tollgate_request_seconds',
    help: 'Time from receiving a request to sending its response.',
    labelNames: ['endpoint'] as const,
    buckets: [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5],
    registers: [this.#registry],
  })

  readonly batch = new Histogram({
    name: 'tollgate_batch_size',
    help: 'Number of calls per database round trip, by hot path.',
    labelNames: ['path'] as const,
    buckets: [1, 2, 4, 8, 16, 32, 64, 128],
    registers: [this.#registry],
  })

  readonly notices = new Counter({
    name: 'tollgate_notices_total',
    help: 'Number of webhook events by billing provider and outcome (accepted, duplicate, or the reason for rejection).',
    labelNames: ['provider', 'outcome'] as const,
    registers: [this.#registry],
  })

  readonly failedNotices = new Counter({
    name: 'tollgate_notices_failed_total',
    help: 'Number of webhook events that could not be processed and are not retried any more.',
    registers: [this.#registry],
  })

  readonly failedJobs = new Counter({
    name: 'tollgate_job_failures_total',
    help: 'Number of failed attempts at background jobs, which are retried.',
    labelNames: ['task'] as const,
    registers: [this.#registry],
  })

  readonly failedUpkeep = new Counter({
    name: 'tollgate_upkeep_failures_total',
    help: 'Number of failed rounds of maintenance (ledger, statistics, pruning), which are retried.',
    labelNames: ['work'] as const,
    registers: [this.#registry],
  })

  readonly deliveries = new Counter({
    name: 'tollgate_webhook_attempts_total',
    help: 'Number of attempts at webhook deliveries by outcome (succeeded, retried: another attempt follows, failed).',
    labelNames: ['outcome'] as const,
    registers: [this.#registry],
  })

  readonly cutConnections = new Counter({
    name: 'tollgate_connections_cut_total',
    help: 'Number of connections rejected at the limit, or closed because the client did not read the response (stalled).',
    labelNames: ['reason'] as const,
    registers: [this.#registry],
  })

  readonly #queues = new Map<string, { waiting: number; oldestSeconds(): number }>()

  constructor() {
    // Present from the start: an increase from nothing to one would not count.
    for (const work of UPKEEP) this.failedUpkeep.inc({ work }, 0)
    this.#showQueues()
    collectDefaultMetrics({ register: this.#registry })
    if (cluster.isWorker) {
      AggregatorRegistry.setRegistries([this.#registry])
      // Creating it lets the primary query this process.
      new AggregatorRegistry()
    }
  }

  #showQueues(): void {
    const queues = this.#queues
    const registers = [this.#registry]
    new Gauge({
      name: 'tollgate_queue_waiting',
      help: 'Number of calls waiting to be batched, by hot path.',
      labelNames: ['path'],
      registers,
      collect() {
        for (const [path, queue] of queues) this.set({ path }, queue.waiting)
      },
    })
    new Gauge({
      name: 'tollgate_queue_oldest_seconds',
      help: 'Waiting time of the oldest call waiting to be batched, by hot path.',
      labelNames: ['path'],
      registers,
      aggregator: 'max',
      collect() {
        for (const [path, queue] of queues) this.set({ path }, queue.oldestSeconds())
      },
    })
  }

  /** Open database connections, and callers waiting for one. */
  watchPool(name: string, pool: { totalCount: number; waitingCount: number }): void {
    new Gauge({
      name: `tollgate_${name}_connections`,
      help: 'Number of open database connections.',
      registers: [this.#registry],
      collect() {
        this.set(pool.totalCount)
      },
    })
    new Gauge({
      name: `tollgate_${name}_waiting`,
      help: 'Number of callers waiting for a database connection.',
      registers: [this.#registry],
      collect() {
        this.set(pool.waitingCount)
      },
    })
  }

  /** Webhook deliveries of all processes, as measured last. */
  watchDeliveries(backlog: { pending: number; oldestSeconds: number }): void {
    const gauge = (name: string, help: string, value: () => number) =>
      new Gauge({
        name,
        help,
        registers: [this.#registry],
        aggregator: 'max',
        collect() {
          this.set(value())
        },
      })
    gauge(
      'tollgate_webhook_deliveries_pending',
      'Number of webhook deliveries to enabled endpoints that are due now or later.',
      () => backlog.pending,
    )
    gauge(
      'tollgate_webhook_oldest_due_seconds',
      'Time since the oldest pending webhook delivery became due.',
      () => backlog.oldestSeconds,
    )
  }

  watchConnections(open: () => number): void {
    new Gauge({
      name: 'tollgate_connections',
      help: 'Number of open client connections.',
      registers: [this.#registry],
      collect() {
        this.set(open())
      },
    })
  }

  /** Whether requests can be answered, as `/readyz` says; checked when the metrics are read. */
  watchReadiness(isReady: () => Promise<boolean>): void {
    new Gauge({
      name: 'tollgate_ready',
      help: 'Whether the database reads and writes through the pools that requests use: 1 or 0.',
      registers: [this.#registry],
      aggregator: 'min',
      async collect() {
        this.set((await isReady()) ? 1 : 0)
      },
    })
  }

  /** Requests in progress, and the age of the oldest. */
  watchRequests(requests: { count: number; oldestSeconds(): number }): void {
    new Gauge({
      name: 'tollgate_requests_under_way',
      help: 'Number of requests in progress.',
      registers: [this.#registry],
      collect() {
        this.set(requests.count)
      },
    })
    new Gauge({
      name: 'tollgate_oldest_request_seconds',
      help: 'Age of the oldest request in progress.',
      registers: [this.#registry],
      aggregator: 'max',
      collect() {
        this.set(requests.oldestSeconds())
      },
    })
  }

  /** Calls of a hot path waiting for their batch, and the age of the oldest. */
  watchQueue(path: string, queue: { waiting: number; oldestSeconds(): number }): void {
    this.#queues.set(path, queue)
  }

  /** Events that have happened and are not published. */
  watchEvents(backlog: { rows: number; oldestSeconds: number }): void {
    new Gauge({
      name: 'tollgate_events_unpublished',
      help: 'Number of changes whose events are not published yet, up to 100,000.',
      registers: [this.#registry],
      aggregator: 'max',
      collect() {
        this.set(backlog.rows)
      },
    })
    new Gauge({
      name: 'tollgate_events_oldest_unpublished_seconds',
      help: 'Age of the oldest committed change whose event is not published yet.',
      registers: [this.#registry],
      aggregator: 'max',
      collect() {
        this.set(backlog.oldestSeconds)
      },
    })
  }

  /** All metrics, of all processes behind this port. */
  text(): Promise<string> {
    if (!cluster.isWorker) return this.#registry.metrics()
    return new Promise((resolve, reject) => {
      const take = (message: MetricsMessage) => {
        if (message.type !== 'metrics') return
        process.off('message', take)
        if (message.text === undefined) reject(new Error(message.failed))
        else resolve(message.text)
      }
      process.on('message', take)
      process.send?.({ type: 'metrics' } satisfies MetricsMessage)
    })
  }
}
