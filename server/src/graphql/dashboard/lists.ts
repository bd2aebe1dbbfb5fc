import { MAX_SORTED_BY_AMOUNT } from '../../domain/limits.ts'
import { NEXT_EVENTS, type NextEvent } from '../../domain/next-event.ts'
import {
  dashboardSubscriptions,
  SUBSCRIPTION_ORDERS,
  type SubscriptionPage,
} from '../../operations/subscriptions/newest-subscriptions.ts'
import {
  isReplaced,
  nextEventOf,
  subscriptionPrice,
} from '../../operations/subscriptions/subscription-billing.ts'
import { listedPage, USER_ORDERS, type UserPage } from '../../operations/users/list-users.ts'
import { SUBSCRIPTION_STATES } from '../../store/subscriptions/subscription-list.ts'
import type { ListedUser } from '../../store/users/search-users.ts'
import type { Builder } from '../types/builder.ts'
import { isoTime } from '../types/time.ts'
import type { DashboardContext } from './context.ts'
import { appCall } from './context.ts'
import { queryFields, USER_NAME } from './fields.ts'
import type { DashboardTypes } from './types.ts'

const NEXT = 'Cursor for the next page, passed as `after`; null on the last page.'

const objectOf = <Row>(builder: Builder<DashboardContext>, name: string) => builder.objectRef<Row>(name)
type UserRef = ReturnType<ReturnType<typeof objectOf<ListedUser>>['implement']>

/** The lists of users and subscriptions, with their filters. */
export function defineLists(builder: Builder<DashboardContext>, types: DashboardTypes, user: UserRef): void {
  defineNextEvent(builder, types)
  const total = builder.objectRef<{ count: number; more: boolean }>('Total').implement({
    description: 'A number of items. If `more` is true, the actual number may be higher.',
    fields: (t) => ({ count: t.exposeInt('count'), more: t.exposeBoolean('more') }),
  })
  const userPage = builder.objectRef<UserPage>('UserPage').implement({
    fields: (t) => ({
      rows: t.field({ type: [user], resolve: (page) => page.rows }),
      next: t.string({ nullable: true, description: NEXT, resolve: (page) => page.next }),
      total: t.field({
        type: total,
        nullable: true,
        description: 'Total number of users on all pages; null if not counted.',
        resolve: (page) => page.total(),
      }),
    }),
  })
  const subscriptionPage = builder.objectRef<SubscriptionPage>('SubscriptionPage').implement({
    fields: (t) => ({
      rows: t.field({ type: [types.subscription], resolve: (page) => page.rows }),
      next: t.string({
        nullable: true,
        description: `${NEXT} A page may contain fewer rows than requested, or none, if few subscriptions match.`,
        resolve: (page) => page.next,
      }),
      total: t.field({
        type: total,
        description: 'Total number of subscriptions on all pages, based on the newest subscriptions.',
        resolve: (page) => page.total(),
      }),
    }),
  })
  const userOrder = builder.enumType('UserOrder', { values: USER_ORDERS })
  const subscriptionOrder = builder.enumType('SubscriptionOrder', { values: SUBSCRIPTION_ORDERS })
  const state = builder.enumType('SubscriptionState', {
    description:
      'Filter for subscriptions. LIVE matches all that have not ended and CANCELLED those that have. ACTIVE matches live subscriptions that are neither trials nor past due; the other values match live subscriptions by their next event.',
    values: SUBSCRIPTION_STATES,
  })
  queryFields(builder, (t, { appId }) => {
    const page = { first: t.arg.int({ defaultValue: 50 }), after: t.arg.string() }
    return {
      users: t.field({
        type: userPage,
        description:
          'Users of the app, newest first. With `search`, users whose ID, name, email or billing ID contain every word of it, best matches first.',
        args: {
          appId,
          search: t.arg.string(),
          packageId: t.arg.string({
            description:
              'Only users with this package; an empty string matches users without any package. Cannot be combined with `search`.',
          }),
          state: t.arg({
            type: state,
            description:
              'Only users with a subscription in this state, to `packageId` if given. CANCELLED matches users who had such a subscription and have none now. Cannot be combined with `search`.',
          }),
          order: t.arg({
            type: userOrder,
            defaultValue: 'NEWEST',
            description:
              'Order of the users. NAME omits users without a name, and EMAIL users without an email. Cannot be combined with `search`, `packageId` or `state`.',
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
            { first, after },
          ),
      }),
      subscriptions: t.field({
        type: subscriptionPage,
        description: 'Subscriptions of the app that match all filters.',
        args: {
          appId,
          userId: t.arg.string(),
          search: t.arg.string({ description: 'Only subscriptions of users who match this search.' }),
          packageId: t.arg.string(),
          state: t.arg({ type: state }),
          provider: t.arg.string({
            description:
              'Only subscriptions charged by this billing provider; an empty string matches subscriptions without one.',
          }),
          order: t.arg({
            type: subscriptionOrder,
            defaultValue: 'NEWEST',
            description: `Order of the subscriptions. AMOUNT sorts the newest ${MAX_SORTED_BY_AMOUNT} by currency, then by the amount that the billing provider charges; subscriptions without a price count as 0, without a currency.`,
          }),
          ...page,
        },
        resolve: (_, { appId, order, first, after, ...asked }, context) =>
          dashboardSubscriptions(appCall(context, appId), asked, order ?? 'NEWEST', { first, after }),
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
        description: 'Name of the next package, if the package changes.',
      }),
    }),
  })
  builder.objectFields(types.subscription, (t) => ({
    userName: t.exposeString('userName', { nullable: true, description: USER_NAME }),
    replaced: t.boolean({
      description: 'Whether the subscription ended because another plan took its place.',
      resolve: (s, _args, { service }) => isReplaced(service, s),
    }),
    price: t.field({
      type: types.price,
      nullable: true,
      description:
        'Unit price charged by the billing provider; null if nothing is charged, or no longer for this package.',
      resolve: (s, _args, { service }) => subscriptionPrice(service, s),
    }),
    nextEvent: t.field({
      type: nextEvent,
      nullable: true,
      description: 'Next scheduled event of the subscription; null if none is scheduled.',
      resolve: (s, _args, { service }) => nextEventOf(service, s),
    }),
  }))
}
