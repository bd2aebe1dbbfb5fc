import { type Access, checkDelta, decideAccess } from '../../domain/access.ts'
import { type Catalogue, grantsOf, versionOf } from '../../domain/catalogue.ts'
import { quote } from '../../domain/errors.ts'
import { isIdentifier } from '../../domain/identifier.ts'
import type { Entitlement } from '../../domain/package.ts'
import type { ResetPeriod } from '../../domain/period.ts'
import { type Standing, standingOf } from '../../domain/standing.ts'
import { endedAt } from '../../domain/subscription.ts'
import { usedOf } from '../../store/subscribers.ts'
import { type SubscriptionRow, subscriptionsOfUser } from '../../store/subscriptions.ts'
import { findUser } from '../../store/users.ts'
import { foundApp } from '../apps/apps.ts'
import type { Call } from '../call/call.ts'
import { catalogueOf } from '../catalogue/catalogue.ts'

export const EXPLANATION_STEPS = [
  'USER',
  'FEATURE',
  'SUBSCRIPTIONS',
  'GRANTS',
  'BUDGET',
  'USED',
  'ANSWER',
] as const

interface ExplainedStep {
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
  /** the version of the package that it has; null: the newest */
  earlierVersion: number | null
  /** its entitlement to the feature; null: none */
  grant: Entitlement | null
}

export interface Explanation extends Access {
  now: number
  resetPeriod: ResetPeriod | null
  periodStart: number | null
  periodEnd: number | null
  steps: ExplainedStep[]
  subscriptions: ExplainedSubscription[]
}

/** Explains an answer of `canUseFeature`: the same rules, each with what it found. */
export async function explain(
  call: Call,
  userId: string,
  featureId: string,
  delta: number,
): Promise<Explanation> {
  const { appId } = call
  const { pool } = call.service
  const { now } = await foundApp(pool, appId)
  checkDelta(delta)
  const user = isIdentifier(userId) ? await findUser(pool, appId, userId) : null
  const held = user ? await subscriptionsOfUser(pool, appId, user.uid, now) : []
  const catalogue = await catalogueOf(call)
  const live = held.filter((s) => endedAt(s, now) === null)
  const standing = standingOf(catalogue, featureId, user && { live, overrides: user.overrides }, now)
  const metered = standing.kind === 'metered' ? standing : null
  const [used = 0] =
    user && metered
      ? await usedOf(pool, appId, [
          {
            uid: user.uid,
            featureId,
            resetPeriod: metered.allowance.resetPeriod,
            periodStart: metered.period.start,
          },
        ])
      : []
  const access = decideAccess(standing, used, delta)
  const subscriptions = held
    .map((row) => explained(row, catalogue, featureId, now))
    .sort((a, b) => Number(b.live) - Number(a.live))
  return {
    ...access,
    now,
    resetPeriod: metered?.allowance.resetPeriod ?? null,
    periodStart: metered?.period.start ?? null,
    periodEnd: metered?.period.end ?? null,
    subscriptions,
    steps: stepsOf({
      userId,
      known: user !== null,
      featureId,
      catalogue,
      subscriptions,
      standing,
      used,
      delta,
      access,
    }),
  }
}

function explained(
  row: SubscriptionRow,
  catalogue: Catalogue,
  featureId: string,
  now: number,
): ExplainedSubscription {
  const ended = endedAt(row, now)
  const version = versionOf(catalogue, row, now)
  return {
    id: row.id,
    packageId: row.packageId,
    packageName: catalogue.packages.get(row.packageId)?.name ?? row.packageId,
    isAddon: row.isAddon,
    live: ended === null,
    startedAt: row.startedAt,
    cancelAt: row.cancelAt,
    cancelledAt: ended,
    earlierVersion: version === catalogue.packages.get(row.packageId)?.version ? null : version,
    grant: grantsOf(catalogue, row, now)?.get(featureId) ?? null,
  }
}

interface Found {
  userId: string
  known: boolean
  featureId: string
  catalogue: Catalogue
  subscriptions: ExplainedSubscription[]
  standing: Standing
  used: number
  delta: number
  access: Access
}

/** Up to the step that decides, and the answer. */
function stepsOf(found: Found): ExplainedStep[] {
  const steps: ExplainedStep[] = []
  for (const step of [user, feature, live, grants, budget, used]) {
    const made = step(found)
    if (!made) break
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

function live({ subscriptions }: Found): ExplainedStep {
  const names = subscriptions.filter((s) => s.live).map((s) => quote(s.packageName))
  const ended = subscriptions.length - names.length
  return {
    step: 'SUBSCRIPTIONS',
    passed: names.length > 0,
    text: `${names.length > 0 ? `Live: ${names.join(', ')}` : 'No live subscription'}${ended > 0 ? `; ${ended} ended` : ''}.`,
  }
}

function grants({ subscriptions }: Found): ExplainedStep {
  const granting = subscriptions.filter((s) => s.live && s.grant)
  return {
    step: 'GRANTS',
    passed: granting.length > 0,
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
  return {
    step: 'BUDGET',
    passed: true,
    text: `${amount}, all packages together${overageEnabled ? ', with overage' : ''}.`,
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
