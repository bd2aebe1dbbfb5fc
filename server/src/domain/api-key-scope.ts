import { TollgateError } from './errors.ts'

/**
 * Operations allowed for an API key. USAGE: access checks and usage. CATALOGUE: everything that READ may, and changes of features,
 * packages, prices and templates.
 */
export const API_KEY_SCOPES = ['READ', 'USAGE', 'CATALOGUE', 'ALL'] as const
export type ApiKeyScope = (typeof API_KEY_SCOPES)[number]

/** The scope that an operation requires of an API key. ANY: every scope includes it. */
export type RequiredScope = ApiKeyScope | 'ANY'

export function scopeIncludes(scope: ApiKeyScope, required: RequiredScope): boolean {
  if (scope === 'ALL' || scope === required || required === 'ANY') return true
  return scope === 'CATALOGUE' && required === 'READ'
}

/** For a call outside the scope of its key. Every key includes ANY, so it is never the required scope here. */
export const outOfScope = (scope: ApiKeyScope, required: RequiredScope) =>
  new TollgateError(
    'FORBIDDEN',
    `This operation requires an API key with the scope ${required}; this key has the scope ${scope}`,
  )
