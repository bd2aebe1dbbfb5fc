import type { Access } from '../../domain/access.ts'
import type { Catalogue } from '../../domain/catalogue.ts'
import { quote } from '../../domain/errors.ts'
import type { Override } from '../../domain/override.ts'
import type { Entitlement } from '../../domain/package.ts'
import type { ResetPeriod } from '../../domain/period.ts'
import type { Standing } from '../../domain/standing.ts'

export const EXPLANATION_STEPS = [
  'USER',
  'FEATURE',
  'OVERRIDE',
  'SUBSCRIPTIONS',
  'GRANTS',
  'BUDGET',
  'USED',
  'ANSWER',
] as const

export interface ExplainedStep {
  step: (typeof EXPLANATION_STEPS)[number]
  passed: boolean
  text: string
}

export interface ExplainedSubscription {
  id: string
  packageId: string
  packageName: string
  isAddon: boolean
  live: boolean
  startedAt: number
  cancelAt: number | null
  cancelledAt: number | null
  quantity: number
  /** the version of the package that it has; null: the newest */
  earlierVersion: number | null
  trialEndsAt: number | null
  /** what is to succeed it, and when */
  next: { packageName: string; at: number } | null
  /** what ended it, where access ends when a payment is taken back */
  takenBack: { how: 'refunded' | 'disputed'; at: number } | null
  /** its entitlement to the feature; null: none */
  grant: Entitlement | null
}

/** What the steps of an explanation are about. */
interface Found {
  userId: string
  known: boolean
  featureId: string
  catalogue: Catalogue
  override: Override | null
  subscriptions: ExplainedSubscription[]
  standing: Standing
  used: number
  delta: number
  access: Access
}

/** Up to the step that decides, and the answer. */
export function stepsOf(found: Found): ExplainedStep[] {
  const steps: ExplainedStep[] = []
  for (const step of [user, feature, overriding, live, grants, budget, used]) {
    const made = step(found)
    if (!made) continue
    steps.push(made)
    if (!made.passed) break
  }
  return [...steps, { step: 'ANSWER', passed: found.access.access, text: found.access.reason }]
}

const user = ({ userId, known }: Found): ExplainedStep => ({
  step: 'USER',
  passed: known,
  text: known ? `${quote(userId)} is a user of this app.` : `There is no user ${quote(userId)}.`,
})

function feature({ featureId, catalogue }: Found): ExplainedStep {
  const found = catalogue.features.get(featureId)
  const kind = found?.type === 'BINARY' ? 'binary: a user has it or has it not' : 'consumable: it is counted'
  return {
    step: 'FEATURE',
    passed: found !== undefined,
    text: found ? `${quote(featureId)} is ${kind}.` : `There is no feature ${quote(featureId)}.`,
  }
}

function overriding({ featureId, catalogue, override }: Found): ExplainedStep | null {
  if (!override) return null
  const { mode, limit, overageEnabled, expiresAt, reason } = override
  const binary = catalogue.features.get(featureId)?.type === 'BINARY'
  const does = {
    REPLACE: `sets the limit to ${limit}`,
    ADD: `adds ${limit} to the limit`,
    UNLIMITED: 'lifts the limit',
    GRANT: binary ? 'grants the feature' : 'grants the feature without a limit',
    DENY: 'denies the feature',
  }[mode]
  const overage =
    overageEnabled === null ? '' : overageEnabled ? ', overage allowed' : ', overage not allowed'
  const until = expiresAt === null ? '' : `, until ${timeText(expiresAt)}`
  return {
    step: 'OVERRIDE',
    passed: mode !== 'DENY',
    text: `An override ${does}${overage}${until}.${reason ? ` Its note: ${quote(reason)}.` : ''}`,
  }
}

function live({ subscriptions, override }: Found): ExplainedStep {
  const held = subscriptions.filter((s) => s.live)
  const names = held.map((s) => `${quote(s.packageName)}${s.quantity === 1 ? '' : ` × ${s.quantity}`}`)
  const ended = subscriptions.length - held.length
  const first = `${names.length > 0 ? `Live: ${names.join(', ')}` : 'No live subscription'}${ended > 0 ? `; ${ended} ended` : ''}.`
  return {
    step: 'SUBSCRIPTIONS',
    passed: held.length > 0 || override !== null,
    text: [first, ...held.flatMap(lifeOf), ...subscriptions.flatMap(lossOf)].join(' '),
  }
}

/** Why one ended, where the app ends access for what is refunded or disputed. */
function lossOf({ live, packageName, takenBack }: ExplainedSubscription): string[] {
  if (live || !takenBack) return []
  const what = takenBack.how === 'refunded' ? 'was refunded in full' : 'was disputed'
  return [
    `${quote(packageName)} ended because its payment ${what} at ${timeText(takenBack.at)}: this app ends access then.`,
  ]
}

/** What is to come of a live subscription. */
function lifeOf(subscription: ExplainedSubscription): string[] {
  const { packageName, trialEndsAt, next, cancelAt } = subscription
  const name = quote(packageName)
  const sentences: string[] = []
  if (trialEndsAt !== null) sentences.push(`${name} is a trial until ${timeText(trialEndsAt)}.`)
  if (next) sentences.push(`${quote(next.packageName)} takes over from ${name} at ${timeText(next.at)}.`)
  else if (cancelAt !== null && cancelAt !== trialEndsAt)
    sentences.push(`${name} ends at ${timeText(cancelAt)}.`)
  return sentences
}

/** To the minute, as a person writes it. */
const timeText = (at: number): string => `${new Date(at).toISOString().slice(0, 16).replace('T', ' ')} UTC`

function grants({ subscriptions, override }: Found): ExplainedStep {
  const granting = subscriptions.filter((s) => s.live && s.grant)
  return {
    step: 'GRANTS',
    passed: granting.length > 0 || override !== null,
    text:
      granting.length > 0
        ? `Granted by ${granting.map((s) => `${nameOf(s)} (${limitOf(s.grant)})`).join(', ')}.`
        : 'None of the live packages includes the feature.',
  }
}

const nameOf = ({ packageName, earlierVersion }: ExplainedSubscription): string =>
  earlierVersion === null ? quote(packageName) : `version ${earlierVersion} of ${quote(packageName)}`

const limitOf = (grant: Entitlement | null): string =>
  grant?.limit === null || !grant
    ? 'without limit'
    : `${grant.limit} ${per(grant.resetPeriod)}${grant.overageEnabled ? ', overage allowed' : ''}`

const per = (reset: ResetPeriod): string => (reset === 'NEVER' ? 'in all' : `per ${reset.toLowerCase()}`)

/** Without the period's dates: the page formats those for its reader. */
function budget({ standing }: Found): ExplainedStep | null {
  if (standing.kind !== 'metered') return null
  const { budget, overageEnabled, resetPeriod } = standing.allowance
  const amount = budget === null ? 'Unlimited' : `${budget} ${per(resetPeriod)}`
  const source = standing.byOverride ? 'with the override' : 'all packages together'
  return {
    step: 'BUDGET',
    passed: true,
    text: `${amount}, ${source}${overageEnabled ? ', with overage' : ''}.`,
  }
}

function used({ standing, used, delta, access }: Found): ExplainedStep | null {
  if (standing.kind !== 'metered') return null
  const { budget } = standing.allowance
  const room = budget === null ? '' : `: ${used} + ${delta} ${used + delta <= budget ? '≤' : '>'} ${budget}`
  return {
    step: 'USED',
    passed: access.access,
    text: `${used} used in this period, ${delta} asked for${room}.`,
  }
}
