import type { Catalogue, CataloguedFeature } from '../../domain/catalogue.ts'
import { appNotFound } from '../../domain/errors.ts'
import { isIdentifier } from '../../domain/identifier.ts'
import type { Package } from '../../domain/package.ts'
import { loadApp } from '../../store/catalogue.ts'
import type { Call } from '../call/call.ts'
import { foundFeature, foundPackage } from '../call/found.ts'

export async function dashboardPackage(call: Call, id: string): Promise<Package> {
  return foundPackage(await catalogueOf(call), id)
}

/** Drafts and published ones alike, oldest first. */
export async function dashboardPackages(call: Call): Promise<Package[]> {
  return [...(await catalogueOf(call)).packages.values()]
}

export async function dashboardFeature(call: Call, id: string): Promise<CataloguedFeature> {
  return foundFeature(await catalogueOf(call), id)
}

/** Those whose id or name contains the text, oldest first. */
export async function dashboardFeatures(call: Call, search: string): Promise<CataloguedFeature[]> {
  const text = search.trim().toLowerCase()
  const all = [...(await catalogueOf(call)).features.values()]
  return all.filter(({ id, name }) => `${id}\n${name}`.toLowerCase().includes(text))
}

export async function catalogueOf({ service, appId }: Pick<Call, 'service' | 'appId'>): Promise<Catalogue> {
  const app = isIdentifier(appId) ? await loadApp(service.pool, appId) : null
  if (!app) throw appNotFound(appId)
  return app.catalogue
}
