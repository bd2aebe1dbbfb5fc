import { providerNameFirst } from '../../domain/provider-name.ts'
import { named, type Sentence, type SentencePart, type Subject, say, textOf } from '../../domain/sentence.ts'
import type { AuditRow } from '../../store/audit/audit.ts'
import { namesOf, subjectKey } from '../../store/audit/names.ts'
import type { HomeDb } from '../../store/connection/places.ts'
import type { AuditedChange } from '../registry/entry.ts'
import { SENTENCES } from '../registry/registry.ts'
import { VALUES } from './audit-value-texts.ts'

interface Thing {
  kind: Subject['kind']
  /** field with its id, if the subject is something else */
  field?: string
  /** the kinds of subject that are one, or have its id */
  of: readonly string[]
  /** field of the subject with its name at that time; absent: it has no name */
  name?: string
}

const THINGS: Record<string, Thing> = {
  user: {
    kind: 'USER',
    field: 'userId',
    of: ['user', 'subscriptions', 'usage', 'token', 'overrides', 'caps', 'autoRecharges'],
    name: 'name',
  },
  package: { kind: 'PACKAGE', field: 'packageId', of: ['package'], name: 'name' },
  feature: { kind: 'FEATURE', of: ['feature'], name: 'name' },
  soldFeature: { kind: 'FEATURE', field: 'featureId', of: [] },
  template: { kind: 'TEMPLATE', of: ['billingTemplate'], name: 'name' },
  app: { kind: 'APP', of: ['app', 'catalogue'], name: 'name' },
  key: { kind: 'API_KEY', of: ['apiKey'], name: 'name' },
  member: { kind: 'MEMBER', field: 'email', of: [] },
  import: { kind: 'IMPORT', of: ['import'] },
}

/** The object a sentence names, existing or not; null: unknown. */
function subjectOf(
  { appId, subjectKind, subjectId, before, after }: AuditedChange,
  thing: Thing,
): Subject | null {
  const { kind, field, of } = thing
  const other = field === undefined ? undefined : (after?.[field] ?? before?.[field])
  const own = of.includes(subjectKind) ? (after?.id ?? before?.id ?? subjectId) : null
  const id = other ?? own
  return typeof id === 'string' ? { kind, appId, id } : null
}

/** Text between braces: "{user}", "{import:a file of users}", "{graceDays}" */
const BRACES = /{(\w+)(?::([^}]+))?}/

function templateOf(done: AuditedChange): string {
  const sentence = SENTENCES.get(done.operation) ?? done.operation
  return typeof sentence === 'string' ? sentence : sentence(done)
}

function subjectsOf(done: AuditedChange): Subject[] {
  return [...templateOf(done).matchAll(new RegExp(BRACES, 'g'))].flatMap(([, name = '']) => {
    const values = VALUES[name]
    if (values) return values.subjects(done)
    const thing = THINGS[name]
    const subject = thing && subjectOf(done, thing)
    return subject ? [subject] : []
  })
}

/** An audit entry as a sentence that follows the actor's name: "changed the package Pro". */
export interface DescribedEntry extends AuditRow {
  sentence: string
  parts: Sentence
  by: SentencePart
}

/** Turns audit entries into sentences. Names of existing objects are links. */
export async function describeEntries(db: HomeDb, rows: readonly AuditRow[]): Promise<DescribedEntry[]> {
  const names = await namesOf(db, [...rows.flatMap(subjectsOf), ...rows.map(memberOf)])
  return rows.map((row) => {
    const parts = sentenceOf(row, names)
    const member = memberOf(row)
    const by = named(actorName(row), names.has(subjectKey(member)) ? member : null)
    return { ...row, parts, sentence: textOf(parts), by }
  })
}

/** The member who did it; keys and providers have no email address. */
const memberOf = ({ memberEmail }: AuditRow): Subject => ({ kind: 'MEMBER', appId: null, id: memberEmail })

function sentenceOf(done: AuditedChange, names: ReadonlyMap<string, string | null>): Sentence {
  const { subjectId, before, after } = done
  // Split by a pattern with two groups: text, name, words, text, …
  const [first = '', ...rest] = templateOf(done).split(BRACES)
  let sentence = say`${first}`
  for (let i = 0; i < rest.length; i += 3) {
    const [name = '', words, text = ''] = rest.slice(i, i + 3)
    const values = VALUES[name]
    if (values) {
      sentence = say`${sentence}${values.text(done, (subject) => valueName(subject, names))}${text}`
      continue
    }
    const thing = THINGS[name]
    const field = String(after?.[name] ?? before?.[name] ?? subjectId ?? '(deleted)')
    sentence = say`${sentence}${thing ? nameOf(done, thing, words, names) : field}${text}`
  }
  return sentence
}

function valueName(subject: Subject, names: ReadonlyMap<string, string | null>): SentencePart {
  const key = subjectKey(subject)
  return named(names.get(key) ?? subject.id, names.has(key) ? subject : null)
}

function nameOf(
  done: AuditedChange,
  thing: Thing,
  words: string | undefined,
  names: ReadonlyMap<string, string | null>,
): SentencePart {
  const { subjectKind, subjectId, before, after } = done
  const subject = subjectOf(done, thing)
  if (!subject) return named(words ?? subjectId ?? '(deleted)', null)
  const key = subjectKey(subject)
  const isSubject = thing.of.includes(subjectKind)
  // Its name at that time if the entry contains it, otherwise its current name.
  const then = thing.name && isSubject ? (after?.[thing.name] ?? before?.[thing.name]) : null
  const text = words ?? (typeof then === 'string' ? then : (names.get(key) ?? subject.id))
  return named(text, names.has(key) ? subject : null)
}

/** Display name of the actor. */
export function actorName({
  actorKind,
  memberEmail,
  actorName,
}: Pick<AuditRow, 'actorKind' | 'memberEmail' | 'actorName'>): string {
  if (actorKind === 'MEMBER') return memberEmail
  if (actorKind === 'API_KEY') return actorName ?? memberEmail
  if (actorKind === 'PROVIDER') return providerNameFirst(memberEmail)
  return actorKind === 'SERVICE' ? 'Tollgate' : 'Somebody'
}
