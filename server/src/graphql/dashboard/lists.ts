import { NEXT_EVENTS, type NextEvent } from '../../domain/next-event.ts'
import {
  dashboardSubscriptions,
  type SubscriptionPage,
} from '../../operations/subscriptions/newest-subscriptions.ts'
import { nextEventOf } from '../../operations/subscriptions/subscription-billing.ts'
import { listedPage, USER_ORDERS, type UserPage } from '../../operations/users/list-users.ts'
import { SUBSCRIPTION_STATES } from '../../store/subscriptions/subscription-list.ts'
import type { ListedUser } from '../../store/users/search-users.ts'
import type { Builder } from '../types/builder.ts'
import { isoTime } from '../types/time.ts'
import type { DashboardContext } from './context.ts'
import { appCall } from './context.ts'
import { queryFields } from './fields.ts'
import type { DashboardTypes } from './types.ts'

const NEXT = 'Passed as after, it leads to the next page; null: that was all.'

const objectOf = <Row>(builder: Builder<DashboardContext>, name: string) => builder.objectRef<Row>(name)
type UserRef = ReturnType<ReturnType<typeof objectOf<ListedUser>>['implement']>

/** The long lists: users and subscriptions, with their filters. */
export function defineLists(builder: Builder<DashboardContext>, types: DashboardTypes, user: UserRef): void {
  defineNextEvent(builder, types)
  const total = builder.objectRef<{ count: number; more: boolean }>('Total').implement({
    description: 'How many there are; more: at least as many.',
    fields: (t) => ({ count: t.exposeInt('count'), more: t.exposeBoolean('more') }),
  })
  const userPage = builder.objectRef<UserPage>('UserPage').implement({
    fields: (t) => ({
      rows: t.field({ type: [user], resolve: (page) => page.rows }),
      next: t.string({ nullable: true, description: NEXT, resolve: (page) => page.next }),
      total: t.field({
        type: total,
        nullable: true,
        description: 'On all pages together; null: not counted.',
        resolve: (page) => page.total(),
      }),
    }),
  })
  const subscriptionPage = builder.objectRef<SubscriptionPage>('SubscriptionPage').implement({
    fields: (t) => ({
      rows: t.field({ type: [types.subscription], resolve: (page) => page.rows }),
      next: t.string({
        nullable: true,
        description: `${NEXT} A page may be short, or empty, where what is asked for is rare.`,
        resolve: (page) => page.next,
      }),
      total: t.field({
        type: total,
        description: 'On all pages together, as far as the newest subscriptions tell.',
        resolve: (page) => page.total(),
      }),
    }),
  })
  const userOrder = builder.enumType('UserOrder', { values: USER_ORDERS })
  const state = builder.enumType('SubscriptionState', {
    description:
      'ACTIVE: all live ones; then kinds of live ones, by what comes next; CANCELLED: those that are over.',
    values: SUBSCRIPTION_STATES,
  })
  queryFields(builder, (t) => {
    const appId = t.arg.string({ required: true })
    const page = { first: t.arg.int({ defaultValue: 50 }), after: t.arg.string() }
    return {
      users: t.field({
        type: userPage,
        nullable: true,
        description:
          'Newest first. With a search, those with each of its words somewhere in their id, name, email or billing id, best matches first.',
        args: {
          appId,
          search: t.arg.string(),
          packageId: t.arg.string({
            description:
              'Those who have this package now; an empty text: those who have none. Not with a search.',
          }),
          state: t.arg({
            type: state,
            description:
              'Those with such a subscription, of the package if one is given; CANCELLED: those who had one, and have none now. Not with a search.',
          }),
          order: t.arg({
            type: userOrder,
            defaultValue: 'NEWEST',
            description: 'NAME: only those who have one. Neither with a search nor with a package or state.',
          }),
          ...page,
        },
        resolve: (_, { appId, search, packageId, state, order, first, after }, context) =>
          listedPage(
            appCall(context, appId),
            {
              search: search ?? '',
              packageId: packageId ?? null,
              state: state ?? null,
              order: order ?? 'NEWEST',
            },
            first,
            after,
          ),
      }),
      subscriptions: t.field({
        type: subscriptionPage,
        nullable: true,
        description: 'Newest first: all, or those that are asked for.',
        args: {
          appId,
          userId: t.arg.string(),
          search: t.arg.string({ description: 'Those of the users whom this finds.' }),
          packageId: t.arg.string(),
          state: t.arg({ type: state }),
          provider: t.arg.string({ description: 'Who is paid for them; an empty text: nobody.' }),
          oldestFirst: t.arg.boolean({ defaultValue: false }),
          ...page,
        },
        resolve: (_, { appId, oldestFirst, first, after, ...asked }, context) =>
          dashboardSubscriptions(appCall(context, appId), asked, oldestFirst ?? false, first, after),
      }),
    }
  })
}

function defineNextEvent(builder: Builder<DashboardContext>, types: DashboardTypes): void {
  const kind = builder.enumType('NextEventKind', { values: NEXT_EVENTS })
  const nextEvent = builder.objectRef<NextEvent>('NextEvent').implement({
    fields: (t) => ({
      kind: t.expose('kind', { type: kind }),
      at: t.string({ resolve: (event) => isoTime(event.at) }),
      packageName: t.exposeString('packageName', {
        nullable: true,
        description: 'What follows, if another.',
      }),
    }),
  })
  builder.objectFields(types.subscription, (t) => ({
    userName: t.string({ nullable: true, resolve: (s) => s.userName ?? null }),
    nextEvent: t.field({
      type: nextEvent,
      nullable: true,
      description: 'What happens to it next; null: nothing, until somebody ends it.',
      resolve: (s, _args, { service }) => nextEventOf(service, s),
    }),
  }))
}
