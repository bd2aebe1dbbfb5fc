import { actorName, type DescribedEntry } from '../../operations/home/describe-entries.ts'
import { auditLog } from '../../operations/members/audit-log.ts'
import { SENTENCES } from '../../operations/registry/registry.ts'
import { ACTOR_KINDS } from '../../store/audit/audit.ts'
import type { Builder } from '../types/builder.ts'
import { definePage } from '../types/page-type.ts'
import { isoTime } from '../types/time.ts'
import { type DashboardContext, installationCall } from './context.ts'
import { queryFields } from './fields.ts'
import type { DashboardTypes } from './types.ts'

export function defineAudit(builder: Builder<DashboardContext>, { part }: DashboardTypes): void {
  const actorKind = builder.enumType('ActorKind', {
    description: 'Kind of actor. VISITOR is a caller who is not signed in, SERVICE is Tollgate itself.',
    values: ACTOR_KINDS,
  })
  const entry = builder.objectRef<DescribedEntry>('AuditEntry').implement({
    fields: (t) => ({
      id: t.string({ resolve: (e) => String(e.seq) }),
      at: t.string({ resolve: (e) => isoTime(e.at) }),
      actorKind: t.expose('actorKind', { type: actorKind }),
      actor: t.string({ description: 'Display name of the actor.', resolve: actorName }),
      memberEmail: t.exposeString('memberEmail', {
        description:
          "Identifier of the actor: a member's email address, the ID of an API key, the name of a provider, or the account of a sign-in attempt.",
      }),
      source: t.exposeString('source', { nullable: true, description: 'IP address of a sign-in.' }),
      appId: t.exposeString('appId', { nullable: true }),
      operation: t.exposeString('operation', { description: 'Name of the mutation.' }),
      sentence: t.exposeString('sentence', {
        description: 'Description of the action, to follow the name of the actor: "changed the package Pro".',
      }),
      parts: t.field({
        type: [part],
        description: 'The sentence as a list of parts.',
        resolve: (e) => [...e.parts],
      }),
      subjectKind: t.exposeString('subjectKind'),
      subjectId: t.exposeString('subjectId', { nullable: true }),
      before: t.expose('before', { type: 'JSON', nullable: true }),
      after: t.expose('after', { type: 'JSON', nullable: true }),
    }),
  })
  const page = definePage(builder, 'AuditPage', entry)
  queryFields(builder, (t) => ({
    auditOperations: t.stringList({
      description: 'All operations that can occur in the audit log.',
      resolve: () => [...SENTENCES.keys()],
    }),
    auditLog: t.field({
      type: page,
      description:
        'Audit log entries, newest first. Without `appId`, entries of all apps and entries that belong to no app. With several filters, a page may contain fewer rows than requested, or none, although `next` is not null.',
      args: {
        appId: t.arg.string(),
        actorKind: t.arg({ type: actorKind }),
        who: t.arg.string({
          description:
            "Only entries of this actor: a member's email address, the ID of an API key, or the name of a provider.",
        }),
        operation: t.arg.string({ description: 'Only entries of this mutation.' }),
        subjectId: t.arg.string({
          description:
            'Only entries about this subject, by ID or by a part of its name. Names are searched in the app `appId`. For a user, includes their subscriptions and former IDs.',
        }),
        from: t.arg.string({ description: 'Only entries at or after this time (ISO 8601).' }),
        to: t.arg.string({ description: 'Only entries before this time (ISO 8601).' }),
        first: t.arg.int({ defaultValue: 50 }),
        after: t.arg.string(),
      },
      resolve: (_, { first, after, ...query }, context) =>
        auditLog(installationCall(context), query, { first, after }),
    }),
  }))
}
