import type { Catalogue } from '../../domain/catalogue.ts'
import type { SoldCredits } from '../../domain/credit-sale.ts'
import { number } from '../../domain/sentence.ts'

/** The name of a package, or "10,000 tokens", as a payer sees it. */
export function soldName(
  { packages, features }: Catalogue,
  sold: { packageId: string } | { credits: SoldCredits | null },
): string {
  if ('packageId' in sold) return packages.get(sold.packageId)?.name ?? sold.packageId
  if (sold.credits === null) return 'Credits'
  const { featureId, units } = sold.credits
  const feature = features.get(featureId)
  const label = units === 1 ? feature?.unitLabel : feature?.unitLabelPlural
  return label ? `${number(units)} ${label}` : `${feature?.name ?? featureId}: ${number(units)} units`
}
