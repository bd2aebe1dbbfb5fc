import { useState } from 'react'

/** The rows of a list that are chosen: some of this page, or all that the list has. */
export interface Selection {
  ids: ReadonlySet<string>
  all: boolean
  toggle: (ids: readonly string[], on: boolean) => void
  selectAll: () => void
  clear: () => void
}

/** Another page or filter is another list, and begins with none. */
export function useSelection(list: string): Selection {
  const [state, setState] = useState({ list, ids: new Set<string>(), all: false })
  const now = state.list === list ? state : { list, ids: new Set<string>(), all: false }
  return {
    ids: now.ids,
    all: now.all,
    toggle: (ids, on) => {
      const next = new Set(now.ids)
      for (const id of ids) on ? next.add(id) : next.delete(id)
      setState({ list, ids: next, all: false })
    },
    selectAll: () => setState({ ...now, all: true }),
    clear: () => setState({ list, ids: new Set(), all: false }),
  }
}
