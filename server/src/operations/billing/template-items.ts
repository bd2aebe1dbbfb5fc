import type { Catalogue } from '../../domain/catalogue.ts'
import type { TemplateItem } from '../../domain/offer.ts'
import type { TemplateRow } from '../../store/billing/billing-templates.ts'
import { requirePackage } from '../call/require.ts'

/** A template's packages and prices, from the catalogue. */
export function templateItems({ items }: Pick<TemplateRow, 'items'>, catalogue: Catalogue): TemplateItem[] {
  return items.map(({ packageId, chosen }) => ({ package: requirePackage(catalogue, packageId), chosen }))
}
