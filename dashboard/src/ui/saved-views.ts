/** The filters and the order of a list, by a name. */
export interface SavedView {
  name: string
  search: Record<string, string>
}

/** More would be a list of their own. The oldest are dropped first. */
const MOST_VIEWS = 20

const keyOf = (appId: string, list: string) => `tollgate views ${list} ${appId}`

/** Views saved in this browser; empty if the stored value is invalid. */
export function savedViews(appId: string, list: string): SavedView[] {
  try {
    const views: unknown = JSON.parse(localStorage.getItem(keyOf(appId, list)) ?? '[]')
    return Array.isArray(views) ? views.filter(isView) : []
  } catch {
    return []
  }
}

export function saveViews(appId: string, list: string, views: readonly SavedView[]): void {
  localStorage.setItem(keyOf(appId, list), JSON.stringify(views.slice(-MOST_VIEWS)))
}

function isView(view: unknown): view is SavedView {
  if (typeof view !== 'object' || view === null) return false
  const { name, search } = view as Partial<SavedView>
  return (
    typeof name === 'string' &&
    typeof search === 'object' &&
    search !== null &&
    Object.values(search).every((value) => typeof value === 'string')
  )
}
