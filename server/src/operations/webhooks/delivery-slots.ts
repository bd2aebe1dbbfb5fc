import { MAX_DELIVERIES_PER_ENDPOINT, MAX_DELIVERIES_UNDER_WAY } from '../../domain/limits.ts'
import type { EndpointRef } from '../../store/webhooks/claim-deliveries.ts'

/** Slowed endpoints that are remembered. The earliest are forgotten first. */
const MAX_SLOWED = 10_000

/**
 * How many deliveries this process may attempt at once. An endpoint that does not respond gets half as many with each
 * attempt, down to one, so that many silent endpoints together leave room for the others. A response adds one.
 */
export class DeliverySlots {
  readonly #running = new Map<string, EndpointRef & { count: number }>()
  /** of the endpoints that have fewer than the others */
  readonly #allowed = new Map<string, number>()
  #total = 0

  get free(): number {
    return MAX_DELIVERIES_UNDER_WAY - this.#total
  }

  /** Endpoints with other than the usual number of free slots. */
  get busy(): (EndpointRef & { free: number })[] {
    const free = (key: string, count: number) =>
      Math.max(0, (this.#allowed.get(key) ?? MAX_DELIVERIES_PER_ENDPOINT) - count)
    const running = [...this.#running].map(([key, { count, ...endpoint }]) => ({
      ...endpoint,
      free: free(key, count),
    }))
    const slowed = [...this.#allowed.keys()].filter((key) => !this.#running.has(key))
    return [...running, ...slowed.map((key) => ({ ...endpointOf(key), free: free(key, 0) }))]
  }

  take(endpoint: EndpointRef): void {
    const key = keyOf(endpoint)
    const { appId, endpointId } = endpoint
    this.#running.set(key, { appId, endpointId, count: (this.#running.get(key)?.count ?? 0) + 1 })
    this.#total++
  }

  give(endpoint: EndpointRef, answered: boolean): void {
    const key = keyOf(endpoint)
    const running = this.#running.get(key)
    if (!running) throw new Error('a slot was given back that nobody had taken')
    this.#total--
    if (--running.count === 0) this.#running.delete(key)
    const allowed = this.#allowed.get(key) ?? MAX_DELIVERIES_PER_ENDPOINT
    this.#allowed.delete(key)
    const next = answered ? allowed + 1 : Math.max(1, Math.floor(allowed / 2))
    if (next < MAX_DELIVERIES_PER_ENDPOINT) this.#allowed.set(key, next)
    for (const earliest of this.#allowed.keys()) {
      if (this.#allowed.size <= MAX_SLOWED) break
      this.#allowed.delete(earliest)
    }
  }
}

const keyOf = ({ appId, endpointId }: EndpointRef): string => JSON.stringify([appId, endpointId])

function endpointOf(key: string): EndpointRef {
  const [appId, endpointId] = JSON.parse(key) as [string, string]
  return { appId, endpointId }
}
