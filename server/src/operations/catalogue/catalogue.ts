import type { Catalogue, CataloguedFeature } from '../../domain/catalogue.ts'
import { appNotFound } from '../../domain/errors.ts'
import { isIdentifier } from '../../domain/identifier.ts'
import type { Package } from '../../domain/package.ts'
import { loadApp } from '../../store/catalogue.ts'
import { foundFeature, foundPackage } from '../call/found.ts'
import type { MemberCall } from '../call/member-call.ts'

export async function dashboardPackage(call: MemberCall, appId: string, id: string): Promise<Package> {
  return foundPackage(await catalogueOf(call, appId), id)
}

/** Drafts and published ones alike, oldest first. */
export async function dashboardPackages(call: MemberCall, appId: string): Promise<Package[]> {
  return [...(await catalogueOf(call, appId)).packages.values()]
}

export async function dashboardFeature(
  call: MemberCall,
  appId: string,
  id: string,
): Promise<CataloguedFeature> {
  return foundFeature(await catalogueOf(call, appId), id)
}

/** Those whose id or name contains the text, oldest first. */
export async function dashboardFeatures(
  call: MemberCall,
  appId: string,
  search: string,
): Promise<CataloguedFeature[]> {
  const text = search.trim().toLowerCase()
  const all = [...(await catalogueOf(call, appId)).features.values()]
  return all.filter(({ id, name }) => `${id}\n${name}`.toLowerCase().includes(text))
}

export async function catalogueOf({ service }: MemberCall, appId: string): Promise<Catalogue> {
  const app = isIdentifier(appId) ? await loadApp(service.pool, appId) : null
  if (!app) throw appNotFound(appId)
  return app.catalogue
}
