import { useSyncExternalStore } from 'react'

// Set while the session has ended under a page with unsaved changes: the page stays until somebody signs in again.

let ended = false
const listeners = new Set<() => void>()

export function setSessionEnded(value: boolean): void {
  ended = value
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
