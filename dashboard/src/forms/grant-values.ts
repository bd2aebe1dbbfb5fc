import { type CatalogueFeature, type Grant, grantInput } from '../grants.ts'
import type { CapValues } from './cap-fields.tsx'

/** An entitlement as the package editor has it. */
interface GrantValues {
  id: string
  limit: number | string
  resetPeriod: Grant['resetPeriod']
  overageEnabled: boolean
  overageCap: number | string
  caps: CapValues[]
}

/** As the server has it. */
export const MAX_CAPS = 10

export const NEW_GRANT: Omit<GrantValues, 'id'> = {
  limit: 100,
  resetPeriod: 'MONTH',
  overageEnabled: false,
  overageCap: '',
  caps: [],
}

export const hasOverageCap = ({ limit, overageEnabled }: GrantValues) => overageEnabled && limit !== ''

const typedNumber = (text: string | null) => (text === null ? '' : Number(text))

export const valuesOf = (grant: Grant): GrantValues => ({
  ...grant,
  limit: typedNumber(grant.limit),
  overageCap: typedNumber(grant.overageCap),
  caps: grant.caps.map(({ limit, period, perEntity }) => ({
    limit: Number(limit),
    period,
    perEntity: perEntity ?? '',
  })),
})

export const inputOf = (features: readonly CatalogueFeature[]) => (grant: GrantValues) =>
  grantInput(
    {
      ...grant,
      limit: grant.limit === '' ? null : String(grant.limit),
      overageCap: hasOverageCap(grant) && grant.overageCap !== '' ? String(grant.overageCap) : null,
      caps: grant.caps.map(({ limit, period, perEntity }) => ({
        limit: String(limit),
        period,
        perEntity: perEntity.trim() || null,
      })),
    },
    features,
  )
