/** Beyond this, timers fire immediately. */
export const MAX_TIMER_MS = 2 ** 31 - 1

export const isTimeout = (value: unknown): value is number => typeof value === 'number' && value > 0

/** The first to finish: `work`, or `late`, which starts once the time is up. */
export async function within<T>(ms: number, work: Promise<T>, late: () => T | Promise<T>): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined
  const over = new Promise<T>((resolve) => {
    if (ms <= MAX_TIMER_MS) timer = setTimeout(() => resolve(late()), ms)
  })
  try {
    return await Promise.race([work, over])
  } finally {
    clearTimeout(timer)
  }
}
