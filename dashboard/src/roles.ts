export const ROLES = [
  { value: 'OWNER', label: 'Owner', about: 'Everything, also members, API keys and apps' },
  { value: 'EDITOR', label: 'Editor', about: 'Catalogue, users, imports and billing' },
  { value: 'VIEWER', label: 'Viewer', about: 'Looks, and changes nothing' },
] as const
