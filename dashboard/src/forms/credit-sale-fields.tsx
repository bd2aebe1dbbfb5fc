import { Group, NumberInput } from '@mantine/core'
import type { UseFormReturnType } from '@mantine/form'
import type { CatalogueFeature } from '../grants.ts'

/** What a price sells. */
export type Sells = { packageId: string } | { feature: CatalogueFeature }

/** The fields of a price that sells credits. */
export const NO_CREDITS = { units: '' as number | string, expiresDays: '' as number | string }
type CreditValues = typeof NO_CREDITS

export const creditChecks = (sells: Sells) => ({
  units: (units: number | string) =>
    'feature' in sells && !(Number(units) >= 1) ? 'The number of units is missing.' : null,
})

/** For the input of a price: its package, or its credits. */
export const soldBy = (sells: Sells, { units, expiresDays }: CreditValues) =>
  'feature' in sells
    ? {
        packageId: null,
        credits: {
          featureId: sells.feature.id,
          units: Number(units),
          expiresDays: expiresDays === '' ? null : Number(expiresDays),
        },
      }
    : { packageId: sells.packageId, credits: null }

interface CreditSaleFieldsProps<Values extends CreditValues> {
  form: Pick<UseFormReturnType<Values>, 'getInputProps'>
  feature: CatalogueFeature
}

export function CreditSaleFields<Values extends CreditValues>({
  form,
  feature,
}: CreditSaleFieldsProps<Values>) {
  const whole = { min: 1, allowDecimal: false, allowNegative: false }
  return (
    <Group grow align="flex-start">
      <NumberInput
        label={`Units of ${feature.name}`}
        thousandSeparator=","
        {...whole}
        {...form.getInputProps('units')}
      />
      <NumberInput
        label="Usable for (days)"
        placeholder="No expiry"
        max={3650}
        {...whole}
        {...form.getInputProps('expiresDays')}
      />
    </Group>
  )
}
