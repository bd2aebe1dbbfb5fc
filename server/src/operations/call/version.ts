import { createHash } from 'node:crypto'
import type { CataloguedFeature } from '../../domain/catalogue.ts'
import { TollgateError } from '../../domain/errors.ts'
import { entitlementOf, type Package } from '../../domain/package.ts'

// A version is a hash of the content: any change, by any path, gives another version.

export function featureVersion(feature: CataloguedFeature): string {
  const { name, unitLabel, unitLabelPlural, metadata, thresholds, costs } = feature
  return hashOf([name, unitLabel, unitLabelPlural, metadata, thresholds ?? null, costs ?? []])
}

export function packageVersion({ name, status, metadata, features, draft, scheduled }: Package): string {
  const grants = features.map((f) => Object.values(entitlementOf(f)))
  return hashOf([name, status, metadata, grants, draft, ...(scheduled ? [scheduled] : [])])
}

/** Rejects the second of two concurrent edits, so that the first is not lost. */
export function checkVersion(what: string, present: string, expected: string | null | undefined): void {
  if (expected === null || expected === undefined || expected === present) return
  throw new TollgateError(
    'CONFLICT',
    `This ${what} was changed in the meantime. Reload it and repeat your change.`,
  )
}

const hashOf = (content: unknown): string =>
  createHash('sha256').update(JSON.stringify(content)).digest('base64url').slice(0, 16)
