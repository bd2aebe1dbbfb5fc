import type { Access } from '../../domain/access.ts'
import { capApplies, capLeft, type HeldCap, windowEnd } from '../../domain/cap.ts'
import type { Catalogue } from '../../domain/catalogue.ts'
import { quote } from '../../domain/errors.ts'
import type { Override } from '../../domain/override.ts'
import type { Entitlement } from '../../domain/package.ts'
import type { ResetPeriod } from '../../domain/period.ts'
import type { Purse } from '../../domain/purse.ts'
import {
  joined,
  named,
  number,
  type Sentence,
  type SentencePart,
  say,
  time,
  units,
} from '../../domain/sentence.ts'
import { sourcesOf } from '../../domain/sources.ts'
import type { UserEntitlement } from '../../domain/user-entitlement.ts'

export const EXPLANATION_STEPS = [
  'USER',
  'FEATURE',
  'OVERRIDE',
  'SUBSCRIPTIONS',
  'GRANTS',
  'BUDGET',
  'USED',
  'SOURCES',
  'ANSWER',
] as const

export interface ExplainedStep {
  step: (typeof EXPLANATION_STEPS)[number]
  passed: boolean
  parts: Sentence
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
  next: { packageId: string; packageName: string; at: number } | null
  /** what ended it, where access ends when a payment is taken back */
  takenBack: { how: 'refunded' | 'disputed'; at: number } | null
  /** its entitlement to the feature; null: none */
  grant: Entitlement | null
}

/** Subject of the steps of an explanation. */
interface Found {
  appId: string
  userId: string
  /** null: there is no such user */
  user: { name: string | null } | null
  featureId: string
  catalogue: Catalogue
  override: Override | null
  subscriptions: ExplainedSubscription[]
  entitlement: UserEntitlement
  used: number
  /** all sources, if more than the plan may pay */
  purse: Purse | null
  now: number
  delta: number
  entities: readonly string[]
  access: Access
}

/** Up to the step that decides, and the answer. */
export function stepsOf(found: Found): ExplainedStep[] {
  const steps: ExplainedStep[] = []
  for (const step of [user, feature, overriding, live, grants, budget, used, sources]) {
    const made = step(found)
    if (!made) continue
    steps.push(made)
    if (!made.passed) break
  }
  return [...steps, { step: 'ANSWER', passed: found.access.access, parts: say`${found.access.reason}` }]
}

const user = ({ appId, userId, user }: Found): ExplainedStep => ({
  step: 'USER',
  passed: user !== null,
  parts: user
    ? say`${named(user.name ?? userId, { kind: 'USER', appId, id: userId })} is a user of this app.`
    : say`The user ${quote(userId)} does not exist.`,
})

function feature({ appId, featureId, catalogue }: Found): ExplainedStep {
  const found = catalogue.features.get(featureId)
  const kind = found?.type === 'BINARY' ? 'a binary feature' : 'a consumable feature'
  return {
    step: 'FEATURE',
    passed: found !== undefined,
    parts: found
      ? say`${named(found.name, { kind: 'FEATURE', appId, id: featureId })} is ${kind}.`
      : say`The feature ${quote(featureId)} does not exist.`,
  }
}

function overriding({ featureId, catalogue, override }: Found): ExplainedStep | null {
  if (!override) return null
  const { mode, limit, overageEnabled, expiresAt, reason } = override
  const binary = catalogue.features.get(featureId)?.type === 'BINARY'
  const does = {
    REPLACE: `sets the limit to ${number(limit ?? 0)}`,
    ADD: `adds ${number(limit ?? 0)} to the limit`,
    UNLIMITED: 'removes the limit',
    GRANT: binary ? 'grants the feature' : 'grants the feature without a limit',
    DENY: 'denies the feature',
  }[mode]
  const overage =
    overageEnabled === null ? '' : overageEnabled ? ', overage allowed' : ', overage not allowed'
  const until = expiresAt === null ? '' : say`, until ${time(expiresAt)}`
  return {
    step: 'OVERRIDE',
    passed: mode !== 'DENY',
    parts: say`An override ${does}${overage}${until}.${reason ? ` Note: ${quote(reason)}.` : ''}`,
  }
}

function live({ appId, subscriptions, override, purse }: Found): ExplainedStep {
  const held = subscriptions.filter((s) => s.live)
  const names = held.map((s) => say`${packageOf(appId, s)}${s.quantity === 1 ? '' : say` × ${s.quantity}`}`)
  const ended = subscriptions.length - held.length
  const first = names.length > 0 ? say`Live: ${joined(names, ', ')}` : 'No live subscription'
  const sentences = [
    say`${first}${ended > 0 ? say`; ${ended} ended` : ''}.`,
    ...held.flatMap((s) => lifeOf(appId, s)),
    ...subscriptions.flatMap((s) => lossOf(appId, s)),
  ]
  return {
    step: 'SUBSCRIPTIONS',
    passed: held.length > 0 || override !== null || purse !== null,
    parts: joined(sentences, ' '),
  }
}

const packageOf = (appId: string, p: { packageId: string; packageName: string }): SentencePart =>
  named(p.packageName, { kind: 'PACKAGE', appId, id: p.packageId })

/** Why one ended, where the app ends access for what is refunded or disputed. */
function lossOf(appId: string, subscription: ExplainedSubscription): Sentence[] {
  const { live, takenBack } = subscription
  if (live || !takenBack) return []
  const what = takenBack.how === 'refunded' ? 'was refunded in full' : 'was disputed'
  return [say`${packageOf(appId, subscription)} ended because its payment ${what} at ${time(takenBack.at)}.`]
}

/** Next events of a live subscription. */
function lifeOf(appId: string, subscription: ExplainedSubscription): Sentence[] {
  const { trialEndsAt, next, cancelAt } = subscription
  const name = packageOf(appId, subscription)
  const sentences: Sentence[] = []
  if (trialEndsAt !== null) sentences.push(say`${name} is a trial until ${time(trialEndsAt)}.`)
  if (next) sentences.push(say`${packageOf(appId, next)} replaces ${name} at ${time(next.at)}.`)
  else if (cancelAt !== null && cancelAt !== trialEndsAt)
    sentences.push(say`${name} ends at ${time(cancelAt)}.`)
  return sentences
}

function grants({ appId, featureId, catalogue, subscriptions, override, purse }: Found): ExplainedStep {
  const granting = subscriptions.filter((s) => s.live && s.grant)
  const labels = catalogue.features.get(featureId)
  const sources = granting.map((s) => {
    const name = packageOf(appId, s)
    const version = s.earlierVersion === null ? name : say`version ${s.earlierVersion} of ${name}`
    // Only what is counted has a limit.
    return labels?.type === 'BINARY' ? say`${version}` : say`${version} (${limitOf(s.grant, labels)})`
  })
  return {
    step: 'GRANTS',
    passed: granting.length > 0 || override !== null || purse !== null,
    parts:
      granting.length > 0
        ? say`Granted by ${joined(sources, ', ')}.`
        : say`No live package includes the feature.`,
  }
}

type Labels = Parameters<typeof units>[1]

const limitOf = (grant: Entitlement | null, labels: Labels): string =>
  grant?.limit === null || !grant
    ? 'unlimited'
    : `${units(grant.limit, labels)} ${per(grant.resetPeriod)}${overageText(grant, labels)}`

function overageText({ overageEnabled, overageCap }: Entitlement, labels: Labels): string {
  if (!overageEnabled) return ''
  return typeof overageCap === 'number'
    ? `, overage of up to ${units(overageCap, labels)} allowed`
    : ', overage allowed'
}

const per = (reset: ResetPeriod): string => (reset === 'NEVER' ? 'in total' : `per ${reset.toLowerCase()}`)

/** Without the period's dates: the page formats those for its reader. */
function budget({ featureId, catalogue, entitlement }: Found): ExplainedStep | null {
  if (entitlement.kind !== 'metered') return null
  const { budget, overageEnabled, overageCap, resetPeriod } = entitlement.allowance
  const labels = catalogue.features.get(featureId)
  const amount = budget === null ? 'Unlimited' : `${units(budget, labels)} ${per(resetPeriod)}`
  const most = overageCap === undefined ? '' : ` of up to ${units(overageCap, labels)}`
  const source = entitlement.byOverride ? 'including the override' : 'total of all packages'
  return {
    step: 'BUDGET',
    passed: true,
    parts: say`${amount}, ${source}${overageEnabled ? `, with overage${most}` : ''}.`,
  }
}

function used({ entitlement, used, delta, access, purse }: Found): ExplainedStep | null {
  if (entitlement.kind !== 'metered') return null
  const { budget } = entitlement.allowance
  const fits = budget !== null && used + delta <= budget
  const room = budget === null ? '' : say`: ${used} + ${delta} ${fits ? '≤' : '>'} ${budget}`
  return {
    step: 'USED',
    // Credits may pay for what the plan does not.
    passed: access.access || purse !== null,
    parts: say`${used} used in this period, ${delta} requested${room}.`,
  }
}

/** A user may have a thousand credits, and a hundred caps. */
const LISTED = 10

/** The first ones, and the number of others. */
function listed(all: readonly Sentence[]): Sentence {
  const more = all.length - LISTED
  return joined(more > 0 ? [...all.slice(0, LISTED), say`and ${number(more)} more`] : all, ', ')
}

/** First those that apply to the question, the tightest before others. */
const byImportance =
  (entities: readonly string[]) =>
  (a: HeldCap, b: HeldCap): number =>
    Number(capApplies(b, entities)) - Number(capApplies(a, entities)) || capLeft(a) - capLeft(b)

/** Computed from the rows that the answer was decided by. */
function sources({
  featureId,
  catalogue,
  entitlement,
  purse,
  now,
  entities,
  access,
}: Found): ExplainedStep | null {
  if (!purse) return null
  const labels = catalogue.features.get(featureId)
  const found = sourcesOf(purse, now).map(({ kind, id, left, expiresAt, pool }) => {
    const source = kind === 'PLAN' ? 'the plan' : `the credit ${quote(id ?? '')}`
    const drawn = pool && catalogue.features.get(pool.featureId)
    const name = drawn ? `${source} of the pool ${quote(drawn.name)} at ${pool.cost} each` : source
    const amount = left === null ? 'unlimited' : `${units(left, drawn ?? labels)} left`
    return say`${name} (${amount}${expiresAt === null ? '' : say` until ${time(expiresAt)}`})`
  })
  const { reserved = 0 } = access.consumption ?? {}
  const held = reserved > 0 ? ` ${units(reserved, labels)} reserved.` : ''
  const caps = [...purse.caps].sort(byImportance(entities)).map((cap) => {
    const left = say`${units(capLeft(cap), labels)} of ${units(cap.limit, labels)} left ${per(cap.period)}`
    const of = cap.entity === null ? say`${left}` : say`${left} for ${quote(cap.entity)}`
    const end = windowEnd(cap.period, now)
    return end === null ? of : say`${of} until ${time(end)}`
  })
  const plan = entitlement.kind === 'metered' ? (entitlement.allowance.caps ?? []) : []
  for (const { period, limit, perEntity } of plan)
    if (perEntity !== null)
      caps.push(say`${units(limit, labels)} ${per(period)} for each ${quote(`${perEntity}:…`)}`)
  const limited = caps.length > 0 ? say` Caps: ${listed(caps)}.` : ''
  return {
    step: 'SOURCES',
    passed: access.access,
    parts:
      found.length > 0
        ? say`Paid in this order: ${listed(found)}.${held}${limited}`
        : say`No source has units left.${held}${limited}`,
  }
}
