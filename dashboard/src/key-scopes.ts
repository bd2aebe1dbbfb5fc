/** The scopes of an API key, the widest first. */
export const SCOPES = [
  { value: 'ALL', label: 'All', about: 'Every operation of the Admin API. For your main backend.' },
  {
    value: 'USAGE',
    label: 'Usage',
    about: 'Check access, record usage and show it. For a service that only meters.',
  },
  {
    value: 'CATALOGUE',
    label: 'Catalogue',
    about: 'Read everything, and change features, packages, prices and templates. For deployments.',
  },
  {
    value: 'READ',
    label: 'Read',
    about: 'Read everything, users included, and change nothing. For reports and support tools.',
  },
] as const

export type Scope = (typeof SCOPES)[number]['value']

export const scopeLabel = (scope: Scope): string =>
  SCOPES.find(({ value }) => value === scope)?.label ?? scope
