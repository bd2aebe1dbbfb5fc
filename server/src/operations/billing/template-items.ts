import type { Catalogue } from '../../domain/catalogue.ts'
import type { TemplateItem } from '../../domain/offer.ts'
import type { TemplateRow } from '../../store/billing/billing-templates.ts'
import { requirePackage } from '../call/require.ts'

/** The packages and prices of a template. */
export function templateItems({ items }: Pick<TemplateRow, 'items'>, catalogue: Catalogue): TemplateItem[] {
  return items.map(({ packageId, chosen }) => ({ package: requirePackage(catalogue, packageId), chosen }))
}
