import { badUserInput, packageNotFound } from '../../domain/errors.ts'
import { PACKAGE_STATUSES, type Package, type PackageStatus } from '../../domain/package.ts'
import { type Call, momentOf } from '../call/call.ts'
import { type Page, pageOfAll } from '../call/paging.ts'
import { requirePackage } from '../call/require.ts'

export async function packageById(call: Call, id: string): Promise<Package> {
  const { app } = await momentOf(call)
  return requirePackage(app.catalogue, id)
}

/** Drafts are invisible to users. */
export async function publishedPackage(call: Call, id: string): Promise<Package> {
  const found = await packageById(call, id)
  if (found.status !== 'PUBLISHED') throw packageNotFound(id)
  return found
}

/** Packages that can be offered to users. */
export async function offeredPackages(call: Call): Promise<readonly Package[]> {
  return (await packages(call, 'PUBLISHED', {})).filter(({ archived }) => !archived)
}

export async function packages(call: Call, status: string, page: Page): Promise<readonly Package[]> {
  const { app } = await momentOf(call)
  if (!isStatus(status)) throw badUserInput(`status must be one of ${PACKAGE_STATUSES.join(', ')}`, 'status')
  return pageOfAll(
    [...app.catalogue.packages.values()].filter((p) => p.status === status),
    page,
    ({ id }) => id,
  )
}

const isStatus = (status: string): status is PackageStatus => PACKAGE_STATUSES.some((s) => s === status)
