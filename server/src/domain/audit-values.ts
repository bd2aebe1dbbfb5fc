import type { Json, JsonObject } from './metadata.ts'

/** Fields of the subject that an audit entry shows. */
interface Snapshots {
  before: JsonObject | null
  after: JsonObject | null
}

/** A value that a change replaced. */
export interface ChangedValue {
  /** null: the sentence names it already */
  label: string | null
  from: string | number | null
  to: string | number | null
  isTime: boolean
}

interface Field {
  label: string | null
  isTime?: true
}

/** Fields whose values belong into the sentence, by kind of subject. Everything else is in the entry itself. */
const FIELDS: Record<string, Record<string, Field>> = {
  user: { name: { label: 'name' }, email: { label: 'email' }, billingId: { label: 'billing ID' } },
  feature: {
    name: { label: 'name' },
    unitLabel: { label: 'unit' },
    unitLabelPlural: { label: 'plural of the unit' },
  },
  apiKey: {
    name: { label: 'name' },
    scope: { label: 'scope' },
    expiresAt: { label: 'expiry', isTime: true },
  },
  member: { role: { label: null } },
  subscription: { trialEndsAt: { label: null, isTime: true } },
  app: { testClock: { label: null, isTime: true } },
}

export function changedValues(kind: string, { before, after }: Snapshots): ChangedValue[] {
  if (!before || !after) return []
  return Object.entries(FIELDS[kind] ?? {}).flatMap(([name, { label, isTime = false }]) => {
    const [from, to] = [shownValue(before[name], isTime), shownValue(after[name], isTime)]
    return from === to ? [] : [{ label, from, to, isTime }]
  })
}

/** A time in milliseconds, or a text. */
function shownValue(value: Json | undefined, isTime: boolean): string | number | null {
  if (typeof value !== 'string') return null
  return isTime ? Date.parse(value) : value
}

interface AuditedPlan {
  packageId: string
  quantity: number
}

/** Subscriptions that a change added, and the one that they took the place of. */
interface AddedPlans {
  from: AuditedPlan | null
  added: AuditedPlan[]
  /** when they start, if that is later; null: at once */
  at: number | null
}

export function addedPlans({ before, after }: Snapshots): AddedPlans {
  const [was, is] = [subscriptionsIn(before), subscriptionsIn(after)]
  const added = is.filter(({ id }) => !was.some((one) => one.id === id))
  const followed = added.find(({ follows }) => follows !== null)
  const now = (id: unknown) => is.find((one) => one.id === id)
  const from =
    was.find(({ id }) => id === followed?.follows) ??
    // The base plan of a user is older than its add-ons, which go on.
    was.find(({ id, cancelledAt }) => cancelledAt === null && (now(id)?.cancelledAt ?? null) !== null)
  const startsAt = followed?.startedAt
  return {
    from: from ? planOf(from) : null,
    added: added.map(planOf),
    at: typeof startsAt === 'string' ? Date.parse(startsAt) : null,
  }
}

const planOf = ({ packageId, quantity }: JsonObject): AuditedPlan => ({
  packageId: String(packageId),
  quantity: Number(quantity),
})

interface AuditedSubscription extends JsonObject {
  id: string
  cancelledAt: string | null
  follows: string | null
}

/** Entries of 0.1.0 do not say which subscription follows another. */
const subscriptionsIn = (shown: JsonObject | null): AuditedSubscription[] =>
  objectsIn(shown?.subscriptions).map((one) => ({
    ...one,
    id: String(one.id),
    cancelledAt: textOrNull(one.cancelledAt),
    follows: textOrNull(one.follows),
  }))

const textOrNull = (value: Json | undefined): string | null => (typeof value === 'string' ? value : null)

const objectsIn = (value: Json | undefined): JsonObject[] =>
  Array.isArray(value)
    ? value.filter((one): one is JsonObject => typeof one === 'object' && one !== null && !Array.isArray(one))
    : []

/** Overrides of features that a change set or removed. */
export function changedOverrides({ before, after }: Snapshots): JsonObject[] {
  const [was, is] = [objectsIn(before?.overrides), objectsIn(after?.overrides)]
  const isIn = (all: readonly JsonObject[], one: JsonObject) =>
    all.some((other) => JSON.stringify(other) === JSON.stringify(one))
  const set = is.filter((one) => !isIn(was, one))
  return set.length > 0 ? set : was.filter((one) => !is.some(({ featureId }) => featureId === one.featureId))
}

/** Usage of features that a change moved. */
export function changedUsage({
  before,
  after,
}: Snapshots): { featureId: string; from: number; to: number }[] {
  const was = objectsIn(before?.usage)
  return objectsIn(after?.usage).flatMap(({ featureId, resetPeriod, periodStart, used }) => {
    const former = was.find(
      (one) =>
        one.featureId === featureId && one.resetPeriod === resetPeriod && one.periodStart === periodStart,
    )
    const [from, to] = [Number(former?.used ?? 0), Number(used)]
    return from === to ? [] : [{ featureId: String(featureId), from, to }]
  })
}
