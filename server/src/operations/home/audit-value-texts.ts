import {
  addedPlans,
  type ChangedValue,
  changedOverrides,
  changedUsage,
  changedValues,
} from '../../domain/audit-values.ts'
import type { JsonObject } from '../../domain/metadata.ts'
import {
  joined,
  number,
  type Sentence,
  type SentencePart,
  type Subject,
  say,
  time,
} from '../../domain/sentence.ts'
import type { AuditedChange } from '../registry/entry.ts'

// The values that audit sentences end with: "changed Ada's plan: Starter → Pro".

/** Names of packages and features, as links if they exist. */
type NameOf = (subject: Subject) => SentencePart

interface Values {
  /** packages and features that the text names */
  subjects(done: AuditedChange): Subject[]
  /** empty: nothing to add */
  text(done: AuditedChange, nameOf: NameOf): Sentence
}

const NOTHING: Sentence = []
const MOST_CHARACTERS = 80

/** By their names between braces. */
export const VALUES: Record<string, Values> = {
  changes: {
    subjects: () => [],
    text: (done) => afterColon(changedValues(done.subjectKind, done).map(changeText)),
  },
  publishAt: {
    subjects: () => [],
    text: ({ after }) =>
      typeof after?.publishAt === 'string' ? say` on ${time(Date.parse(after.publishAt))}` : NOTHING,
  },
  planChange: {
    subjects: (done) => packagesOf(done),
    text(done, nameOf) {
      const { from, added, at } = addedPlans(done)
      const [to] = added
      if (!from || !to) return NOTHING
      const change = say`: ${planText(done, from, nameOf)} → ${planText(done, to, nameOf)}`
      return at === null ? change : say`${change} on ${time(at)}`
    },
  },
  newPlans: {
    subjects: (done) => packagesOf(done),
    text(done, nameOf) {
      const { added } = addedPlans(done)
      if (added.length === 0) return NOTHING
      return say` to ${joined(
        added.map((plan) => planText(done, plan, nameOf)),
        ', ',
      )}`
    },
  },
  trialPlan: {
    subjects: (done) => packagesOf(done),
    text(done, nameOf) {
      const [plan] = addedPlans(done).added
      return plan ? say` of ${planText(done, plan, nameOf)}` : NOTHING
    },
  },
  overrides: {
    subjects: (done) => changedOverrides(done).map(({ featureId }) => feature(done, featureId)),
    text: (done, nameOf) =>
      afterColon(
        changedOverrides(done).map((override) =>
          done.operation === 'removeOverride'
            ? [nameOf(feature(done, override.featureId))]
            : say`${nameOf(feature(done, override.featureId))}, ${overrideText(override)}`,
        ),
      ),
  },
  usage: {
    subjects: (done) => changedUsage(done).map(({ featureId }) => feature(done, featureId)),
    text: (done, nameOf) =>
      afterColon(
        changedUsage(done).map(
          ({ featureId, from, to }) =>
            say`${nameOf(feature(done, featureId))} ${number(from)} → ${number(to)}`,
        ),
      ),
  },
}

const feature = ({ appId }: AuditedChange, id: unknown): Subject => ({
  kind: 'FEATURE',
  appId,
  id: String(id),
})
const packageOf = ({ appId }: AuditedChange, id: string): Subject => ({ kind: 'PACKAGE', appId, id })

function packagesOf(done: AuditedChange): Subject[] {
  const { from, added } = addedPlans(done)
  return [...(from ? [from] : []), ...added].map(({ packageId }) => packageOf(done, packageId))
}

function planText(
  done: AuditedChange,
  { packageId, quantity }: { packageId: string; quantity: number },
  nameOf: NameOf,
): Sentence {
  const name = nameOf(packageOf(done, packageId))
  return quantity > 1 ? say`${name} × ${number(quantity)}` : [name]
}

function changeText({ label, from, to, isTime }: ChangedValue): Sentence {
  const text = (value: string | number | null): string | SentencePart =>
    value === null ? 'none' : isTime ? time(Number(value)) : shortened(String(value))
  const change = say`${text(from)} → ${text(to)}`
  return label === null ? change : say`${label} ${change}`
}

const shortened = (text: string): string =>
  text.length > MOST_CHARACTERS ? `${text.slice(0, MOST_CHARACTERS - 1).toWellFormed()}…` : text

/** "limit 5,000", "5,000 more", "denied" */
function overrideText({ mode, limit, expiresAt }: JsonObject): Sentence {
  const amount = number(Number(limit ?? 0))
  const texts: Record<string, string> = {
    REPLACE: `limit ${amount}`,
    ADD: `${amount} more`,
    UNLIMITED: 'unlimited',
    GRANT: 'granted',
    DENY: 'denied',
  }
  const text = texts[String(mode)] ?? String(mode)
  return typeof expiresAt === 'string' ? say`${text} until ${time(Date.parse(expiresAt))}` : say`${text}`
}

const afterColon = (texts: readonly Sentence[]): Sentence =>
  texts.length === 0 ? NOTHING : say`: ${joined(texts, '; ')}`
