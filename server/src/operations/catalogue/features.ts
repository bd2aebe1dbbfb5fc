import type { CataloguedFeature } from '../../domain/catalogue.ts'
import { type Call, momentOf } from '../call/call.ts'
import { type Page, pageOfAll } from '../call/paging.ts'
import { requireFeature } from '../call/require.ts'

export async function feature(call: Call, id: string): Promise<CataloguedFeature> {
  const { app } = await momentOf(call)
  return requireFeature(app.catalogue, id)
}

export async function features(call: Call, page: Page): Promise<readonly CataloguedFeature[]> {
  const { app } = await momentOf(call)
  return pageOfAll([...app.catalogue.features.values()], page, ({ id }) => id)
}
