import { appNotFound } from '../../domain/errors.ts'
import { isIdentifier } from '../../domain/identifier.ts'
import type { Package } from '../../domain/package.ts'
import { loadApp } from '../../store/catalogue.ts'
import { foundPackage } from '../found.ts'
import type { MemberCall } from './member-call.ts'

export async function dashboardPackage(call: MemberCall, appId: string, id: string): Promise<Package> {
  return foundPackage(await catalogueOf(call, appId), id)
}

/** Drafts and published ones alike, oldest first. */
export async function dashboardPackages(call: MemberCall, appId: string): Promise<Package[]> {
  return [...(await catalogueOf(call, appId)).packages.values()]
}

async function catalogueOf({ service }: MemberCall, appId: string) {
  const app = isIdentifier(appId) ? await loadApp(service.pool, appId) : null
  if (!app) throw appNotFound(appId)
  return app.catalogue
}
