/** What a member may do; each role includes those before it. */
export const ROLES = ['VIEWER', 'EDITOR', 'OWNER'] as const
export type Role = (typeof ROLES)[number]

export const isAtLeast = (role: Role, least: Role): boolean => ROLES.indexOf(role) >= ROLES.indexOf(least)
