import { useSyncExternalStore } from 'react'

// Set while the session has ended under a page with unsaved changes: the page stays until somebody signs in again.

let ended = false
/** Makes the change again that was refused because the session had ended. */
let retry: (() => void) | null = null
const listeners = new Set<() => void>()

export function setSessionEnded(again: (() => void) | null): void {
  ended = true
  // Queries that fail at the same time have nothing to make again.
  retry = again ?? retry
  tell()
}

/** Returns the failed change to retry. */
export function setSessionResumed(): (() => void) | null {
  const again = retry
  ended = false
  retry = null
  tell()
  return again
}

function tell(): void {
  for (const listener of listeners) listener()
}

export const useSessionEnded = (): boolean =>
  useSyncExternalStore(
    (listener) => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    () => ended,
  )
