import type { ReactNode } from 'react'

/** Search, filters and order of a list: a row, of which a phone gives the search a line of its own. */
export function ListTools({ children }: { children: ReactNode }) {
  return <div className="list-tools">{children}</div>
}
