const NAME = 'tollgate-app'
const FIRST = 'default'

/** The app last viewed in this browser, if it is still in use; otherwise another. */
export function rememberedApp(apps: readonly { id: string; archivedAt: string | null }[]): string {
  const inUse = apps.filter(({ archivedAt }) => archivedAt === null)
  const wanted = [localStorage.getItem(NAME), FIRST, inUse[0]?.id]
  const found = wanted.find((id) => inUse.some((app) => app.id === id))
  return found ?? localStorage.getItem(NAME) ?? FIRST
}

export const rememberApp = (id: string): void => localStorage.setItem(NAME, id)
