import { textOf } from '../../domain/sentence.ts'
import {
  activity,
  checklist,
  EVENT_KINDS,
  type LatestEvent,
  latestEvents,
  type NearLimit,
  nearLimits,
} from '../../operations/home/home.ts'
import { ACTIVITY_INTERVALS } from '../../operations/home/intervals.ts'
import { type Explanation, explain } from '../../operations/usage/explain.ts'
import { EXPLANATION_STEPS, type ExplainedSubscription } from '../../operations/usage/explanation-steps.ts'
import type { Calls, Checklist } from '../../store/usage/activity.ts'
import type { Builder } from '../types/builder.ts'
import { ENTITIES } from '../types/cap-types.ts'
import { isoTime, isoTimeOrNull } from '../types/time.ts'
import { appCall, type DashboardContext } from './context.ts'
import { queryFields, USER_NAME } from './fields.ts'
import type { DashboardTypes } from './types.ts'

/** Home and the playground. */
export function defineHome(builder: Builder<DashboardContext>, types: DashboardTypes): void {
  const interval = builder.enumType('ActivityInterval', { values: ACTIVITY_INTERVALS })
  const own = defineTypes(builder, types)
  const explanation = defineExplanation(builder, types)
  queryFields(builder, (t, { appId, userId, featureId }) => ({
    checklist: t.field({
      type: own.checklist,
      args: { appId },
      resolve: (_, { appId }, context) => checklist(appCall(context, appId)),
    }),
    activity: t.field({
      type: [own.point],
      args: {
        appId,
        from: t.arg.string({ required: true, description: 'Start of the time range (ISO 8601).' }),
        to: t.arg.string({ required: true }),
        interval: t.arg({ type: interval, required: true }),
      },
      resolve: (_, { appId, from, to, interval }, context) =>
        activity(appCall(context, appId), from, to, interval),
    }),
    nearLimits: t.field({
      type: [own.nearLimit],
      args: { appId, first: t.arg.int({ defaultValue: 10 }) },
      resolve: (_, { appId, first }, context) => nearLimits(appCall(context, appId), first),
    }),
    latestEvents: t.field({
      type: [own.event],
      args: { appId, first: t.arg.int({ defaultValue: 20 }) },
      resolve: (_, { appId, first }, context) => latestEvents(appCall(context, appId), first),
    }),
    explain: t.field({
      type: explanation,
      args: {
        appId,
        userId,
        featureId,
        delta: t.arg.int({ defaultValue: 1 }),
        entities: t.arg.stringList({ description: ENTITIES }),
      },
      resolve: (_, { appId, userId, featureId, delta, entities }, context) =>
        explain(appCall(context, appId), userId, featureId, delta ?? 1, entities ?? []),
    }),
  }))
}

function defineTypes(builder: Builder<DashboardContext>, { part }: DashboardTypes) {
  const eventKind = builder.enumType('EventKind', { values: EVENT_KINDS })
  return {
    checklist: builder.objectRef<Checklist>('Checklist').implement({
      description: 'Completed steps of the initial setup. `check` is the first call of `canUseFeature`.',
      fields: (t) => ({
        feature: t.exposeBoolean('feature'),
        package: t.exposeBoolean('package'),
        published: t.exposeBoolean('published'),
        user: t.exposeBoolean('user'),
        subscription: t.exposeBoolean('subscription'),
        check: t.exposeBoolean('check'),
      }),
    }),
    point: builder.objectRef<Calls & { at: number }>('ActivityPoint').implement({
      description: 'Number of calls in the interval that starts at `at`.',
      fields: (t) => ({
        at: t.string({ resolve: (p) => isoTime(p.at) }),
        checks: t.expose('checks', { type: 'SafeInt' }),
        records: t.expose('records', { type: 'SafeInt' }),
      }),
    }),
    nearLimit: builder.objectRef<NearLimit>('NearLimit').implement({
      description: 'A user with recently recorded usage who is close to a limit.',
      fields: (t) => ({
        userId: t.exposeString('userId'),
        userName: t.exposeString('userName', { nullable: true, description: USER_NAME }),
        featureId: t.exposeString('featureId'),
        featureName: t.exposeString('featureName'),
        used: t.exposeFloat('used'),
        budget: t.exposeFloat('budget'),
        overageEnabled: t.exposeBoolean('overageEnabled'),
        periodEnd: t.string({ nullable: true, resolve: (n) => isoTimeOrNull(n.periodEnd) }),
      }),
    }),
    event: builder.objectRef<LatestEvent>('Event').implement({
      fields: (t) => ({
        id: t.exposeString('id'),
        kind: t.expose('kind', { type: eventKind }),
        at: t.string({ resolve: (e) => isoTime(e.at) }),
        text: t.string({ resolve: (e) => textOf(e.parts) }),
        parts: t.field({
          type: [part],
          description: 'The text as a list of parts.',
          resolve: (e) => [...e.parts],
        }),
        userId: t.exposeString('userId', { nullable: true }),
        featureId: t.exposeString('featureId', { nullable: true }),
        packageId: t.exposeString('packageId', { nullable: true }),
      }),
    }),
  }
}

function defineExplanation(builder: Builder<DashboardContext>, types: DashboardTypes) {
  const stepName = builder.enumType('ExplanationStep', { values: EXPLANATION_STEPS })
  const step = builder.objectRef<Explanation['steps'][number]>('ExplainedStep').implement({
    fields: (t) => ({
      step: t.expose('step', { type: stepName }),
      passed: t.exposeBoolean('passed'),
      text: t.string({ resolve: (s) => textOf(s.parts) }),
      parts: t.field({
        type: [types.part],
        description: 'The text as a list of parts.',
        resolve: (s) => [...s.parts],
      }),
    }),
  })
  const subscription = builder.objectRef<ExplainedSubscription>('ExplainedSubscription').implement({
    fields: (t) => ({
      id: t.exposeString('id'),
      packageId: t.exposeString('packageId'),
      packageName: t.exposeString('packageName'),
      isAddon: t.exposeBoolean('isAddon'),
      live: t.exposeBoolean('live'),
      startedAt: t.string({ resolve: (s) => isoTime(s.startedAt) }),
      cancelAt: t.string({ nullable: true, resolve: (s) => isoTimeOrNull(s.cancelAt) }),
      cancelledAt: t.string({ nullable: true, resolve: (s) => isoTimeOrNull(s.cancelledAt) }),
      grant: t.expose('grant', {
        type: types.grant,
        nullable: true,
        description: 'Grant of the feature by the subscription; null if it does not grant the feature.',
      }),
    }),
  })
  return builder.objectRef<Explanation>('Explanation').implement({
    description: 'Step-by-step explanation of a `canUseFeature` result.',
    fields: (t) => ({
      access: t.exposeBoolean('access'),
      reason: t.exposeString('reason'),
      reasonCode: t.expose('reasonCode', { type: types.reasonCode }),
      deniedBy: t.exposeString('deniedBy', {
        nullable: true,
        description: 'Limit that denied the check, as in `canUseFeature`.',
      }),
      consumption: t.expose('consumption', { type: types.consumption, nullable: true }),
      now: t.string({ resolve: (e) => isoTime(e.now) }),
      resetPeriod: t.expose('resetPeriod', { type: types.resetPeriod, nullable: true }),
      periodStart: t.string({ nullable: true, resolve: (e) => isoTimeOrNull(e.periodStart) }),
      periodEnd: t.string({ nullable: true, resolve: (e) => isoTimeOrNull(e.periodEnd) }),
      steps: t.expose('steps', { type: [step] }),
      subscriptions: t.expose('subscriptions', {
        type: [subscription],
        description: 'All subscriptions of the user, live ones first.',
      }),
    }),
  })
}
