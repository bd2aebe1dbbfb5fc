const NAME = 'tollgate-app'

/** The app last viewed in this browser. */
export const lastApp = (): string => localStorage.getItem(NAME) ?? 'default'
export const rememberApp = (id: string): void => localStorage.setItem(NAME, id)
