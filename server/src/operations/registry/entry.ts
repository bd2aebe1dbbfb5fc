import type { RequiredScope } from '../../domain/api-key-scope.ts'
import type { ErrorCode } from '../../domain/errors.ts'
import type { Role } from '../../domain/role.ts'
import type { AuditRow } from '../../store/audit/audit.ts'
import type { SubjectKind } from '../../store/audit/snapshots.ts'

type Callers = {
  /** Part of the dashboard's API. FILE: a file that the dashboard uploads or downloads at its own path. */
  dashboard?: true | 'FILE'
  /** The lowest role that may run it in the dashboard or its GraphiQL. VISITOR: no sign-in needed. */
  role: Role | 'VISITOR'
} & (ForKeys | NotForKeys)

export interface ForKeys {
  /** Part of the Admin API, where a mutation takes an Idempotency-Key. */
  admin: true
  /** The scope that an API key needs for it; ANY: every key has it. */
  scope: RequiredScope
  /** Its errors, without those that every operation can return. */
  errors: readonly ErrorCode[]
}

interface NotForKeys {
  admin?: never
  scope?: never
  errors?: never
}

export type QueryEntry = Callers & {
  /** A list or figure that reads much of the database. It may run on a replica, so it must not write. */
  replica?: true
}

export type MutationEntry = Callers & {
  /** An archived app refuses it, because it gives a user something new or changes what is on offer. */
  archived?: 'REFUSED'
  /** It hashes a password, which is expensive. A document may contain one such mutation. */
  password?: true
} & (AuditedOperation | UnauditedOperation)

interface AuditedOperation {
  subject: AuditSubject
  sentence: AuditSentence
  /** Calls with an API key leave no entry. */
  auditedFor?: 'MEMBERS'
}

interface UnauditedOperation {
  subject: null
  /** For an operation that writes its audit entry itself, because nobody is signed in. */
  sentence?: AuditSentence
}

/** The object that a mutation changes. The audit log shows it before and after the change. */
interface AuditSubject {
  kind: SubjectKind
  /** The id from the arguments or, if it is generated, from the result. */
  id(args: Args, result?: unknown): string | null
  /** The mutation creates the subject under an id of the caller's choice, so there is nothing before it. */
  isNew?: true
}

/** The arguments of a mutation as the resolver receives them. */
export type Args = Record<string, unknown>

/**
 * The text of an audit entry, after the name of the actor. Braces contain an object that has a page (see home/describe-entries.ts),
 * optionally with the words to show for it, or a field of the subject.
 */
export type AuditSentence = string | ((entry: AuditedChange) => string)

export type AuditedChange = Pick<
  AuditRow,
  'appId' | 'operation' | 'subjectKind' | 'subjectId' | 'before' | 'after'
>

// How to find the id of a mutation's subject.

export const byId = ({ id }: Args): string | null => textOf(id)

export const by =
  (name: string) =>
  (args: Args): string | null =>
    textOf(args[name])

export const byInput =
  (name: string) =>
  ({ input }: Args): string | null =>
    textOf((input as Args | undefined)?.[name])

export const byResult = (_args: Args, result?: unknown): string | null =>
  textOf((result as Args | null | undefined)?.id)

/** For a mutation that may change the id: the old id before the change, the new one after it. */
export const byCurrentId = (args: Args, result?: unknown): string | null =>
  (result === undefined ? null : byInput('id')(args)) ?? byId(args)

export const none = (): null => null

const textOf = (value: unknown): string | null =>
  typeof value === 'string' || typeof value === 'number' ? String(value) : null

/** For a mutation that archives or restores something. */
export const archived = ({ after }: AuditedChange): string =>
  after?.archivedAt === null ? 'restored' : 'archived'
