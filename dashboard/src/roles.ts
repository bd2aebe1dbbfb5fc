export const ROLES = [
  { value: 'OWNER', label: 'Owner', about: 'Everything, including members, API keys and apps' },
  { value: 'EDITOR', label: 'Editor', about: 'Catalogue, users, imports and billing' },
  { value: 'VIEWER', label: 'Viewer', about: 'Can view everything, but change nothing' },
] as const

export const roleName = (role: string): string => ROLES.find(({ value }) => value === role)?.label ?? role
