const NAME = 'tollgate-app'

/** The app that was looked at last in this browser. */
export const lastApp = (): string => localStorage.getItem(NAME) ?? 'default'
export const rememberApp = (id: string): void => localStorage.setItem(NAME, id)
