import type { CataloguedFeature } from '../../domain/catalogue.ts'
import { type Call, momentOf } from '../call/call.ts'
import { foundFeature } from '../call/found.ts'
import { type Page, pageOfAll } from '../call/paging.ts'

export async function feature(call: Call, id: string): Promise<CataloguedFeature> {
  const { app } = await momentOf(call)
  return foundFeature(app.catalogue, id)
}

export async function features(call: Call, page: Page): Promise<readonly CataloguedFeature[]> {
  const { app } = await momentOf(call)
  return pageOfAll([...app.catalogue.features.values()], page)
}
