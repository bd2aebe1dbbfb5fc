import { BULK_OUTCOMES, BULK_STATES, type BulkAction, isUndoable } from '../../domain/bulk-change.ts'
import { badUserInput } from '../../domain/errors.ts'
import { OVERRIDE_MODES } from '../../domain/override.ts'
import { inApp } from '../../operations/apps/apps.ts'
import {
  applyBulkChange,
  bulkChange,
  bulkChangeRows,
  bulkChanges,
  type ShownBulkChange,
  type ShownBulkRow,
  startBulkChange,
  stopBulkChange,
  undoBulkChange,
} from '../../operations/bulk/bulk-changes.ts'
import type { BulkSubjects } from '../../store/bulk/bulk-changes.ts'
import { SUBSCRIPTION_STATES } from '../../store/subscriptions/subscription-list.ts'
import type { Builder } from '../types/builder.ts'
import { newOverride } from '../types/inputs.ts'
import { definePage } from '../types/page-type.ts'
import { isoTime } from '../types/time.ts'
import { appCall, type DashboardContext } from './context.ts'
import { mutationFields, queryFields, USER_NAME } from './fields.ts'
import type { DashboardTypes } from './types.ts'

/** Changes of many users at once. */
export function defineBulkChanges(builder: Builder<DashboardContext>, types: DashboardTypes): void {
  const { change, outcome, rowPage } = defineTypes(builder)
  const input = defineInput(builder, types)
  queryFields(builder, (t, { appId, id }) => ({
    bulkChanges: t.field({
      type: [change],
      description: 'The last 20 bulk changes, newest first.',
      args: { appId },
      resolve: (_, { appId }, context) => bulkChanges(appCall(context, appId)),
    }),
    bulkChange: t.field({
      type: change,
      args: { appId, id },
      resolve: (_, { appId, id }, context) => bulkChange(appCall(context, appId), id),
    }),
    bulkChangeRows: t.field({
      type: rowPage,
      args: {
        appId,
        id,
        outcome: t.arg({ type: outcome }),
        first: t.arg.int({ defaultValue: 50 }),
        after: t.arg.string(),
      },
      resolve: (_, { appId, id, outcome, first, after }, context) =>
        bulkChangeRows(appCall(context, appId), id, outcome ?? null, { first, after }),
    }),
  }))
  mutationFields(builder, (t, { appId, id }) => ({
    startBulkChange: t.field({
      type: change,
      description:
        'Checks a change of many users in the background. Nothing is changed until `applyBulkChange`. Progress is available from `bulkChange`.',
      args: { appId, input: t.arg({ type: input, required: true }) },
      resolve: async (_, { appId, input }, context) =>
        startBulkChange(await inApp(appCall(context, appId)), {
          action: actionOf(input),
          of: subjectsOf(input.of),
        }),
    }),
    applyBulkChange: t.field({
      type: change,
      description: 'Applies the checked changes in the background, one operation per row.',
      args: { appId, id },
      resolve: (_, { appId, id }, context) => applyBulkChange(appCall(context, appId), id),
    }),
    stopBulkChange: t.field({
      type: change,
      description: 'Stops after the current row. The rest can be applied later, or the changes undone.',
      args: { appId, id },
      resolve: (_, { appId, id }, context) => stopBulkChange(appCall(context, appId), id),
    }),
    undoBulkChange: t.field({
      type: change,
      description: 'Reverts the changes, except those of users who were changed since.',
      args: { appId, id },
      resolve: (_, { appId, id }, context) => undoBulkChange(appCall(context, appId), id),
    }),
  }))
}

function defineTypes(builder: Builder<DashboardContext>) {
  const state = builder.enumType('BulkChangeState', { values: BULK_STATES })
  const outcome = builder.enumType('BulkChangeOutcome', {
    description:
      'Result of the check of a row (CHANGE, SKIP), and then of the change (DONE, REFUSED) or of its reversal (UNDONE, KEPT).',
    values: BULK_OUTCOMES,
  })
  const reason = builder.objectRef<ShownBulkChange['reasons'][number]>('BulkChangeReason').implement({
    description: 'Number of rows that are skipped for a reason.',
    fields: (t) => ({ message: t.exposeString('message'), count: t.exposeInt('count') }),
  })
  const change = builder.objectRef<ShownBulkChange>('BulkChange').implement({
    fields: (t) => ({
      id: t.exposeString('id'),
      title: t.exposeString('title', { description: 'The action, such as "Change plan to Pro".' }),
      list: t.string({
        description: 'List to which the rows belong: USERS or SUBSCRIPTIONS.',
        resolve: ({ request }) => request.of.list,
      }),
      state: t.expose('state', { type: state }),
      undoable: t.boolean({ resolve: ({ request }) => isUndoable(request.action) }),
      memberEmail: t.exposeString('memberEmail'),
      createdAt: t.string({ resolve: (c) => isoTime(c.createdAt) }),
      rows: t.exposeInt('rows', { description: 'Number of rows checked so far.' }),
      changing: t.exposeInt('changing', { description: 'Number of rows that can be changed.' }),
      skipped: t.field({ type: [reason], resolve: (c) => c.reasons }),
      done: t.exposeInt('done'),
      refused: t.exposeInt('refused', { description: 'Number of rows that were refused when applied.' }),
      undone: t.exposeInt('undone'),
      kept: t.exposeInt('kept', { description: 'Number of rows that were not reverted.' }),
      problem: t.exposeString('problem', { nullable: true }),
    }),
  })
  const row = builder.objectRef<ShownBulkRow>('BulkChangeRow').implement({
    fields: (t) => ({
      number: t.exposeInt('number'),
      userId: t.string({
        nullable: true,
        description: 'ID of the user; null if the user was deleted.',
        resolve: ({ user }) => user?.userId ?? null,
      }),
      userName: t.string({
        nullable: true,
        description: USER_NAME,
        resolve: ({ user }) => user?.name ?? user?.email ?? null,
      }),
      subscriptionId: t.exposeString('subscriptionId', { nullable: true }),
      outcome: t.expose('outcome', { type: outcome }),
      message: t.exposeString('message', {
        nullable: true,
        description: 'Reason why the row was not changed.',
      }),
    }),
  })
  return { change, outcome, rowPage: definePage(builder, 'BulkChangeRowPage', row) }
}

const LISTS = ['USERS', 'SUBSCRIPTIONS'] as const

function defineInput(builder: Builder<DashboardContext>, types: DashboardTypes) {
  const subjects = builder.inputType('BulkSubjectsInput', {
    description: 'Users or subscriptions, either those in `ids` or all that match the filters.',
    fields: (t) => ({
      list: t.field({ type: builder.enumType('BulkList', { values: LISTS }), required: true }),
      ids: t.stringList(),
      search: t.string(),
      packageId: t.string(),
      state: t.string({ description: 'A SubscriptionState.' }),
      provider: t.string(),
    }),
  })
  const changePlan = builder.inputType('BulkPlanInput', {
    fields: (t) => ({
      packageId: t.string({ required: true }),
      when: t.field({ type: types.changeTime, defaultValue: 'BEST' }),
    }),
  })
  const startTrial = builder.inputType('BulkTrialInput', {
    fields: (t) => ({ packageId: t.string({ required: true }), days: t.int({ required: true }) }),
  })
  const cancel = builder.inputType('BulkCancelInput', {
    fields: (t) => ({ atPeriodEnd: t.boolean({ defaultValue: true }) }),
  })
  const setOverride = builder.inputType('BulkOverrideInput', {
    fields: (t) => ({
      featureId: t.string({ required: true }),
      mode: t.string({ required: true, description: 'An OverrideMode.' }),
      limit: t.field({ type: 'SafeInt' }),
      expiresAt: t.string(),
      reason: t.string(),
    }),
  })
  return builder.inputType('BulkChangeInput', {
    description: 'Exactly one of the actions is required.',
    fields: (t) => ({
      of: t.field({ type: subjects, required: true }),
      changePlan: t.field({ type: changePlan }),
      startTrial: t.field({ type: startTrial }),
      cancel: t.field({ type: cancel }),
      setOverride: t.field({ type: setOverride }),
    }),
  })
}

type Maybe<T> = T | null | undefined

interface Actions {
  changePlan?: Maybe<{ packageId: string; when?: Maybe<'NOW' | 'PERIOD_END' | 'BEST'> }>
  startTrial?: Maybe<{ packageId: string; days: number }>
  cancel?: Maybe<{ atPeriodEnd?: Maybe<boolean> }>
  setOverride?: Maybe<{
    featureId: string
    mode: string
    limit?: Maybe<number>
    expiresAt?: Maybe<string>
    reason?: Maybe<string>
  }>
}

function actionOf({ changePlan, startTrial, cancel, setOverride }: Actions): BulkAction {
  const actions: BulkAction[] = []
  if (changePlan)
    actions.push({ kind: 'CHANGE_PLAN', packageId: changePlan.packageId, when: changePlan.when ?? 'BEST' })
  if (startTrial) actions.push({ kind: 'START_TRIAL', ...startTrial })
  if (cancel) actions.push({ kind: 'CANCEL', atPeriodEnd: cancel.atPeriodEnd ?? true })
  if (setOverride) {
    const mode = oneOf('mode', setOverride.mode, OVERRIDE_MODES)
    const { userId, ...override } = newOverride({ ...setOverride, userId: '', mode })
    actions.push({ kind: 'SET_OVERRIDE', override })
  }
  const [action] = actions
  if (!action || actions.length > 1)
    throw badUserInput('Exactly one of changePlan, startTrial, cancel and setOverride is required', 'input')
  return action
}

interface Subjects {
  list: (typeof LISTS)[number]
  ids?: Maybe<readonly string[]>
  search?: Maybe<string>
  packageId?: Maybe<string>
  state?: Maybe<string>
  provider?: Maybe<string>
}

function subjectsOf({ list, ids, search, packageId, state, provider }: Subjects): BulkSubjects {
  if (ids) return { list, ids: [...ids] }
  const filter = {
    search: search ?? null,
    packageId: packageId ?? null,
    state: state == null ? null : oneOf('state', state, SUBSCRIPTION_STATES),
  }
  return list === 'USERS' ? { list, ...filter } : { list, ...filter, provider: provider ?? null }
}

function oneOf<const Value extends string>(name: string, asked: string, values: readonly Value[]): Value {
  const value = values.find((value) => value === asked)
  if (value === undefined) throw badUserInput(`${name} must be one of ${values.join(', ')}`, name)
  return value
}
