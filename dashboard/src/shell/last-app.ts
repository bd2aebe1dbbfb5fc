const NAME = 'tollgate-app'
const FIRST = 'default'

/** The app last viewed in this browser, if it still exists; otherwise another. */
export function rememberedApp(apps: readonly { id: string }[]): string {
  const wanted = [localStorage.getItem(NAME), FIRST, apps[0]?.id]
  const found = wanted.find((id) => apps.some((app) => app.id === id))
  return found ?? localStorage.getItem(NAME) ?? FIRST
}

export const rememberApp = (id: string): void => localStorage.setItem(NAME, id)
