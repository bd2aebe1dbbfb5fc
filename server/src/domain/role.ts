/** What a member of the dashboard may do; each may do what those before it may. */
export const ROLES = ['VIEWER', 'EDITOR', 'OWNER'] as const
export type Role = (typeof ROLES)[number]

export const isAtLeast = (role: Role, least: Role): boolean => ROLES.indexOf(role) >= ROLES.indexOf(least)
