import { setTimeout as sleep } from 'node:timers/promises'

/** The status of `/readyz`; null: no answer, which a load balancer takes as "not ready" too, but late. */
export async function readiness(url: string): Promise<number | null> {
  return fetch(`${url}/readyz`, { signal: AbortSignal.timeout(5_000) }).then(
    ({ status }) => status,
    () => null,
  )
}

/** How long it took until `/readyz` had this status; null when it did not in time. */
export async function waitForReadiness(
  url: string,
  status: number,
  withinMs: number,
): Promise<number | null> {
  const began = performance.now()
  while (performance.now() - began < withinMs) {
    if ((await readiness(url)) === status) return performance.now() - began
    await sleep(50)
  }
  return null
}
