import { actorName, type ToldEntry } from '../../operations/home/tell.ts'
import { auditLog } from '../../operations/members/audit-log.ts'
import { SENTENCES } from '../../operations/registry/registry.ts'
import { ACTOR_KINDS } from '../../store/audit/audit.ts'
import type { Builder } from '../types/builder.ts'
import { definePage } from '../types/page-type.ts'
import { isoTime } from '../types/time.ts'
import { type DashboardContext, installationCall } from './context.ts'
import { queryFields } from './fields.ts'
import type { DashboardTypes } from './types.ts'

/** The audit log. */
export function defineAudit(builder: Builder<DashboardContext>, { part }: DashboardTypes): void {
  const actorKind = builder.enumType('ActorKind', {
    description: 'VISITOR: somebody who has not signed in.',
    values: ACTOR_KINDS,
  })
  const entry = builder.objectRef<ToldEntry>('AuditEntry').implement({
    fields: (t) => ({
      id: t.string({ resolve: (e) => String(e.seq) }),
      at: t.string({ resolve: (e) => isoTime(e.at) }),
      actorKind: t.expose('actorKind', { type: actorKind }),
      actor: t.string({ description: 'Who did it, as people call them.', resolve: actorName }),
      memberEmail: t.exposeString('memberEmail', {
        description:
          "Who did it: a member's address, the id of an API key, a provider's name, or the account that was tried.",
      }),
      source: t.exposeString('source', { nullable: true, description: 'The address a sign-in came from.' }),
      appId: t.exposeString('appId', { nullable: true }),
      operation: t.exposeString('operation', { description: "The mutation's name." }),
      sentence: t.exposeString('sentence', {
        description: 'What was done, as it follows the name of who did it: "changed the package Pro".',
      }),
      parts: t.field({
        type: [part],
        description: 'The same sentence, in parts.',
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
      description: 'Every operation that the audit log may name.',
      resolve: () => [...SENTENCES.keys()],
    }),
    auditLog: t.field({
      type: page,
      nullable: true,
      description:
        'Newest first; without appId everything, also what belongs to no app. With several filters a page may have few rows, or none, and still a next.',
      args: {
        appId: t.arg.string(),
        actorKind: t.arg({ type: actorKind }),
        who: t.arg.string({ description: "A member's address, the id of an API key, a provider's name." }),
        operation: t.arg.string({ description: "The mutation's name." }),
        subjectId: t.arg.string({
          description: "What it was about. A user's subscriptions and former ids count as the user's.",
        }),
        from: t.arg.string({ description: 'ISO 8601.' }),
        to: t.arg.string({ description: 'Before this; ISO 8601.' }),
        first: t.arg.int({ defaultValue: 50 }),
        after: t.arg.string(),
      },
      resolve: (_, { first, after, ...query }, context) =>
        auditLog(installationCall(context), query, first, after),
    }),
  }))
}
