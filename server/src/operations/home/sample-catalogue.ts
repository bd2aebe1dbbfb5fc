import type { Feature } from '../../domain/feature.ts'
import type { Entitlement } from '../../domain/package.ts'
import type { ResetPeriod } from '../../domain/period.ts'
import type { Price } from '../../domain/price.ts'

// The catalogue and customers of a small software company. Ids start with `demo-`, so that they do not clash with
// others.

const feature = (id: string, name: string, unit: [one: string, several: string] | null): Feature => ({
  id: `demo-${id}`,
  name,
  type: unit ? 'CONSUMABLE' : 'BINARY',
  unitLabel: unit?.[0] ?? null,
  unitLabelPlural: unit?.[1] ?? null,
  metadata: { sample: true },
})

export const SAMPLE_FEATURES: Feature[] = [
  feature('api-calls', 'API calls', ['call', 'calls']),
  feature('reports', 'Reports', ['report', 'reports']),
  feature('seats', 'Team members', ['seat', 'seats']),
  feature('storage', 'Storage', ['gigabyte', 'gigabytes']),
  feature('export', 'Data export', null),
  feature('sso', 'Single sign-on', null),
]

const grant = (
  id: string,
  limit: number | null = null,
  resetPeriod: ResetPeriod = 'MONTH',
  overageEnabled = false,
): Entitlement => ({ featureId: `demo-${id}`, limit, resetPeriod, overageEnabled })

export interface SamplePackage {
  id: string
  name: string
  isAddon: boolean
  features: Entitlement[]
}

export const SAMPLE_PACKAGES: SamplePackage[] = [
  {
    id: 'demo-free',
    name: 'Free',
    isAddon: false,
    features: [grant('api-calls', 1_000), grant('reports', 3), grant('seats', 1, 'NEVER')],
  },
  {
    id: 'demo-team',
    name: 'Team',
    isAddon: false,
    features: [
      grant('api-calls', 50_000),
      grant('reports', 50),
      grant('seats', 10, 'NEVER'),
      grant('storage', 100, 'NEVER'),
      grant('export'),
    ],
  },
  {
    id: 'demo-business',
    name: 'Business',
    isAddon: false,
    features: [
      grant('api-calls', 500_000, 'MONTH', true),
      grant('reports'),
      grant('seats', 100, 'NEVER'),
      grant('storage', 2_000, 'NEVER', true),
      grant('export'),
      grant('sso'),
    ],
  },
  {
    id: 'demo-extra-calls',
    name: '10,000 extra calls',
    isAddon: true,
    features: [grant('api-calls', 10_000)],
  },
]

const monthly = (packageId: string, amount: number): { packageId: string; price: Price } => ({
  packageId,
  price: {
    id: `price_sandbox_${packageId}`,
    provider: 'sandbox',
    amount,
    currency: 'usd',
    interval: 'month',
  },
})

/** Paid in the built-in sandbox, where no money moves. */
export const SAMPLE_PRICES = [
  monthly('demo-team', 4_900),
  monthly('demo-business', 24_900),
  monthly('demo-extra-calls', 1_000),
]

export const SAMPLE_TEMPLATES = [
  { id: 'demo-team-monthly', name: 'Team, monthly', packageIds: ['demo-team'], trialDays: null },
  { id: 'demo-team-trial', name: 'Team, 14 days free', packageIds: ['demo-team'], trialDays: 14 },
  { id: 'demo-business-monthly', name: 'Business, monthly', packageIds: ['demo-business'], trialDays: null },
  {
    id: 'demo-team-with-calls',
    name: 'Team with extra calls',
    packageIds: ['demo-team', 'demo-extra-calls'],
    trialDays: null,
  },
]

export const SAMPLE_USERS = 200

const FIRST =
  'Ada Amir Beatriz Chidi Clara Dmitri Elif Esther Farid Greta Hana Ibrahim Ines Jonas Kaveh Lena Mateo Mei Nadia Olu Priya Quentin Rosa Samir Tove Uma Viktor Wanjiru Yuki Zofia'.split(
    ' ',
  )
const LAST =
  'Abara Berg Castillo Demir Eriksen Fontaine Garcia Haddad Ito Jansen Kovac Lindqvist Moreau Novak Okafor Petrov Quispe Rossi Sato Tanaka Ueda Vargas Weber Xu Yilmaz Zimmer'.split(
    ' ',
  )

export function sampleUser(i: number): { id: string; name: string; email: string } {
  const first = FIRST[i % FIRST.length] ?? ''
  const last = LAST[(i * 7 + Math.floor(i / FIRST.length)) % LAST.length] ?? ''
  const number = String(i + 1).padStart(3, '0')
  const email = `${first}.${last}.${number}@example.com`.toLowerCase()
  return { id: `demo-user-${number}`, name: `${first} ${last}`, email }
}

/** Deterministic pseudo-random numbers: the sample is always the same. */
export function sampleNumbers(): () => number {
  let state = 12_345
  return () => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648
    return state / 2_147_483_648
  }
}
