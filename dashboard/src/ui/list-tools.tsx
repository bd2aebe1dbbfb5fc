import type { ReactNode } from 'react'

/** What a list is searched, narrowed and ordered by: a row, of which a phone gives the search a line of its own. */
export function ListTools({ children }: { children: ReactNode }) {
  return <div className="list-tools">{children}</div>
}
