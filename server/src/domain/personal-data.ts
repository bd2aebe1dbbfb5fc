import { quote } from './errors.ts'
import type { Json, JsonObject } from './metadata.ts'

/** An id that a user has or had, and until when. Afterwards it may belong to another user. */
export interface KnownAs {
  id: string
  from: number
  /** null: current */
  until: number | null
}

/** All identifiers by which stored records may refer to a user. */
export interface Person {
  uid: number
  knownAs: readonly KnownAs[]
  /** at billing providers */
  billingIds: readonly string[]
  subscriptionIds: ReadonlySet<string>
}

/** Each id was valid from the end of the previous one. */
export function knownAs(
  user: { id: string; createdAt: number },
  former: readonly { id: string; until: number }[],
): KnownAs[] {
  const known: KnownAs[] = []
  let from = user.createdAt
  for (const { id, until } of former) {
    known.push({ id, from, until })
    from = until
  }
  return [...known, { id: user.id, from, until: null }]
}

/** The receipt of a request with several mutations is as old as the first of them. */
const SLACK_MS = 60_000

const idsAt = ({ knownAs }: Person, at: number): Set<string> =>
  new Set(
    knownAs
      .filter(({ from, until }) => from - SLACK_MS <= at && (until === null || at <= until))
      .map(({ id }) => id),
  )

interface AuditRecord {
  at: number
  subjectId: string | null
  before: JsonObject | null
  after: JsonObject | null
}

/** Whether an audit entry is about this person. `subject` is the kind of its subject. */
export function entryIsAbout(
  person: Person,
  { at, subjectId, before, after }: AuditRecord,
  subject: 'user' | 'subscription' | 'other',
): boolean {
  const ids = idsAt(person, at)
  if (subject === 'user' && subjectId !== null && ids.has(subjectId)) return true
  if (subject === 'subscription' && subjectId !== null && person.subscriptionIds.has(subjectId)) return true
  return names(before, ids, []) || names(after, ids, [])
}

/** The person's ids as error messages quote them. */
export const quotesOf = ({ knownAs, billingIds }: Person): string[] =>
  [...knownAs.map(({ id }) => id), ...billingIds].map(quote)

/** The start of a stored response to a token request, which refers to a user by number. */
export const tokenOf = ({ uid }: Pick<Person, 'uid'>): string => `{"uid":${uid},"issued":`

/** Whether a stored response is about this person. */
export function answerIsAbout(person: Person, results: Json, at: number): boolean {
  return names(results, idsAt(person, at), quotesOf(person)) || hasTokenOf(person, results)
}

const hasTokenOf = (person: Person, results: Json): boolean =>
  Object.values(results ?? {}).some((answer: { value?: Json } | null) =>
    JSON.stringify(answer?.value ?? null).startsWith(tokenOf(person)),
  )

/** A user has `id` and `billingId`; all objects that belong to a user have `userId`. */
function names(value: Json, ids: ReadonlySet<string>, quoted: readonly string[]): boolean {
  if (typeof value !== 'object' || value === null) return false
  if (Array.isArray(value)) return value.some((one) => names(one, ids, quoted))
  const { userId, id, message } = value
  if (typeof userId === 'string' && ids.has(userId)) return true
  if (typeof id === 'string' && 'billingId' in value && ids.has(id)) return true
  if (typeof message === 'string' && quoted.some((text) => message.includes(text))) return true
  return Object.entries(value).some(([key, one]) => key !== 'metadata' && names(one, ids, quoted))
}
