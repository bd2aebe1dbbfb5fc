import type { Catalogue, CataloguedFeature } from '../../domain/catalogue.ts'
import type { Package } from '../../domain/package.ts'
import type { Call } from '../call/call.ts'
import { requireCatalogue, requireFeature, requirePackage } from '../call/require.ts'

export async function dashboardPackage(call: Call, id: string): Promise<Package> {
  return requirePackage(await catalogueOf(call), id)
}

/** Drafts and published packages whose id or name contains the text, oldest first. */
export async function dashboardPackages(call: Call, search: string): Promise<Package[]> {
  return [...(await catalogueOf(call)).packages.values()].filter(containing(search))
}

export async function dashboardFeature(call: Call, id: string): Promise<CataloguedFeature> {
  return requireFeature(await catalogueOf(call), id)
}

/** Features whose id or name contains the text, oldest first. */
export async function dashboardFeatures(call: Call, search: string): Promise<CataloguedFeature[]> {
  return [...(await catalogueOf(call)).features.values()].filter(containing(search))
}

/** Matches every word of the text. */
function containing(search: string): (noun: { id: string; name: string }) => boolean {
  const words = search.trim().toLowerCase().split(/\s+/)
  return ({ id, name }) => {
    const text = `${id}\n${name}`.toLowerCase()
    return words.every((word) => text.includes(word))
  }
}

export const catalogueOf = ({ service, appId }: Pick<Call, 'service' | 'appId'>): Promise<Catalogue> =>
  requireCatalogue(service.pool, appId)
