/** Roles of a member; each includes the previous ones. */
export const ROLES = ['VIEWER', 'EDITOR', 'OWNER'] as const
export type Role = (typeof ROLES)[number]

export const isAtLeast = (role: Role, least: Role): boolean => ROLES.indexOf(role) >= ROLES.indexOf(least)
