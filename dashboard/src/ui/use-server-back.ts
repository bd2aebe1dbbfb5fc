import { useEffect, useRef } from 'react'

/** How often a page that got no answer looks whether the service is back. */
const EVERY_MS = 2_000

/** Calls `retry` once the service is ready again, while `isAway`. */
export function useServerBack(isAway: boolean, retry: () => void): void {
  const latest = useRef(retry)
  latest.current = retry
  useEffect(() => {
    if (!isAway) return
    let timer: ReturnType<typeof setTimeout> | undefined
    const controller = new AbortController()
    const look = async () => {
      const signal = AbortSignal.any([controller.signal, AbortSignal.timeout(EVERY_MS)])
      const isReady = await fetch('/readyz', { signal }).then(
        ({ ok }) => ok,
        () => false,
      )
      if (controller.signal.aborted) return
      if (isReady) latest.current()
      else timer = setTimeout(() => void look(), EVERY_MS)
    }
    timer = setTimeout(() => void look(), EVERY_MS)
    return () => {
      clearTimeout(timer)
      controller.abort()
    }
  }, [isAway])
}
