import {
  applyUserImport,
  type ShownImportRow,
  undoUserImport,
  userImport,
  userImportRows,
  userImports,
} from '../../operations/imports/apply-import.ts'
import { IMPORT_OUTCOMES, IMPORT_PROBLEMS } from '../../store/imports/user-import-rows.ts'
import { IMPORT_STATES, type UserImport } from '../../store/imports/user-imports.ts'
import type { Builder } from '../types/builder.ts'
import { definePage } from '../types/page-type.ts'
import { isoTime, isoTimeOrNull } from '../types/time.ts'
import { appCall, type DashboardContext } from './context.ts'
import { mutationFields, queryFields } from './fields.ts'
import type { DashboardTypes } from './types.ts'

/** CSV imports of users. The file itself is uploaded over HTTP. */
export function defineImports(builder: Builder<DashboardContext>, { part }: DashboardTypes): void {
  const state = builder.enumType('ImportState', { values: IMPORT_STATES })
  const outcome = builder.enumType('ImportOutcome', { values: IMPORT_OUTCOMES })
  const problem = builder.enumType('ImportProblem', { values: IMPORT_PROBLEMS })
  const imported = builder.objectRef<UserImport>('UserImport').implement({
    fields: (t) => {
      const count = (name: Counted, description: string) => t.expose(name, { type: 'SafeInt', description })
      return {
        id: t.exposeString('id'),
        state: t.expose('state', { type: state }),
        failure: t.exposeString('failure', {
          nullable: true,
          description: 'Human-readable reason for a failure.',
        }),
        memberEmail: t.exposeString('memberEmail'),
        startedAt: t.string({ resolve: (i) => isoTime(i.startedAt) }),
        finishedAt: t.string({ nullable: true, resolve: (i) => isoTimeOrNull(i.finishedAt) }),
        bytesTotal: count('bytesTotal', 'Size of the file in bytes.'),
        bytesRead: count('bytesRead', 'Number of bytes read so far.'),
        rows: count('rows', 'Number of rows read so far, without the header.'),
        bad: count('bad', 'Number of invalid rows.'),
        unchanged: count('unchanged', 'Number of rows without a change.'),
        changed: count('changed', 'Number of rows that change an existing user.'),
        newUsers: count('newUsers', 'Number of rows that create a user.'),
        applied: count('applied', 'Number of changes applied so far.'),
        created: count('created', 'Number of users created so far.'),
        refused: count(
          'refused',
          'Number of rows not applied because the user was modified or created in the meantime or the billing ID was taken.',
        ),
        undone: count('undone', 'Number of rows whose previous values were restored.'),
        removed: count('removed', 'Number of created users that were removed again.'),
        kept: count('kept', 'Number of rows not undone because the user was modified after the import.'),
      }
    },
  })
  const row = builder.objectRef<ShownImportRow>('UserImportRow').implement({
    fields: (t) => ({
      line: t.expose('line', { type: 'SafeInt' }),
      userId: t.exposeString('userId', { nullable: true }),
      user: t.expose('user', {
        type: part,
        nullable: true,
        description: 'User of the row, if they exist.',
      }),
      outcome: t.expose('outcome', { type: outcome }),
      problem: t.expose('problem', {
        type: problem,
        nullable: true,
        description: 'Machine-readable problem of the row.',
      }),
      message: t.exposeString('message', {
        nullable: true,
        description: 'Human-readable problem of the row.',
      }),
      oldEmail: t.exposeString('oldEmail', { nullable: true }),
      newEmail: t.exposeString('newEmail', { nullable: true }),
      oldBillingId: t.exposeString('oldBillingId', { nullable: true }),
      newBillingId: t.exposeString('newBillingId', { nullable: true }),
      oldName: t.exposeString('oldName', { nullable: true }),
      newName: t.exposeString('newName', {
        nullable: true,
        description: 'New name. Null, as `oldName`, if the name is not in the file or does not change.',
      }),
      oldMetadata: t.exposeString('oldMetadata', { nullable: true }),
      newMetadata: t.exposeString('newMetadata', {
        nullable: true,
        description: 'New metadata as JSON. Null, as `oldMetadata`, if it does not change.',
      }),
      plan: t.exposeString('plan', { nullable: true, description: 'Plan of a new user.' }),
    }),
  })
  const rowPage = definePage(builder, 'UserImportRowPage', row)

  queryFields(builder, (t, { appId, id }) => ({
    userImports: t.field({
      type: [imported],
      description: 'The last 20 imports, newest first.',
      args: { appId },
      resolve: (_, { appId }, context) => userImports(appCall(context, appId)),
    }),
    userImport: t.field({
      type: imported,
      args: { appId, id },
      resolve: (_, { appId, id }, context) => userImport(appCall(context, appId), id),
    }),
    userImportRows: t.field({
      type: rowPage,
      description: 'Rows of an import, in the order of the file.',
      args: {
        appId,
        id,
        outcome: t.arg({ type: outcome }),
        first: t.arg.int({ defaultValue: 50 }),
        after: t.arg.string(),
      },
      resolve: (_, { appId, id, outcome, first, after }, context) =>
        userImportRows(appCall(context, appId), id, outcome, { first, after }),
    }),
  }))

  mutationFields(builder, (t, { appId, id }) => {
    const args = { appId, id }
    return {
      applyUserImport: t.field({
        type: imported,
        description: 'Applies the changes of a checked import. Progress is available from `userImport`.',
        args,
        resolve: (_, { appId, id }, context) => applyUserImport(appCall(context, appId), id),
      }),
      undoUserImport: t.field({
        type: imported,
        description:
          'Restores the values from before an import and removes the users that it created, except for users who were modified or used something since.',
        args,
        resolve: (_, { appId, id }, context) => undoUserImport(appCall(context, appId), id),
      }),
    }
  })
}

type Counted = {
  [Name in keyof UserImport]: UserImport[Name] extends number ? Name : never
}[keyof UserImport]
