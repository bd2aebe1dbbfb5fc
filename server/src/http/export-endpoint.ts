import type { IncomingMessage, ServerResponse } from 'node:http'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { badUserInput } from '../domain/errors.ts'
import { displayAmount } from '../domain/price.ts'
import type { Call } from '../operations/call/call.ts'
import type { Service } from '../operations/call/service.ts'
import {
  type ExportedSubscription,
  exportSubscriptions,
} from '../operations/subscriptions/export-subscriptions.ts'
import { type ExportedUser, exportUsers } from '../operations/users/export-users.ts'
import { USER_ORDERS } from '../operations/users/list-users.ts'
import { SUBSCRIPTION_STATES } from '../store/subscriptions/subscription-list.ts'
import { type CsvColumns, csvPages } from './csv-pages.ts'
import { memberFile, parameter } from './member-file.ts'

/** `GET /dashboard/export/users?app=ID&…` and `…/subscriptions`: lists as CSV, with the filters of their pages. */
export function exportEndpoint(service: Service, publicUrl: () => string) {
  return {
    users: exportFile(service, publicUrl, 'exportUsers', 'users', USER_COLUMNS, (call, query) =>
      exportUsers(call, {
        search: query.get('search') ?? '',
        packageId: query.get('packageId'),
        state: oneOf(query, 'state', SUBSCRIPTION_STATES),
        order: oneOf(query, 'order', USER_ORDERS) ?? 'NEWEST',
      }),
    ),
    subscriptions: exportFile(
      service,
      publicUrl,
      'exportSubscriptions',
      'subscriptions',
      SUBSCRIPTION_COLUMNS,
      (call, query) =>
        exportSubscriptions(
          call,
          {
            search: query.get('search'),
            packageId: query.get('packageId'),
            state: oneOf(query, 'state', SUBSCRIPTION_STATES),
            provider: query.get('provider'),
          },
          query.get('oldestFirst') === 'true',
        ),
    ),
  }
}

function exportFile<Row>(
  service: Service,
  publicUrl: () => string,
  mutation: 'exportUsers' | 'exportSubscriptions',
  name: string,
  columns: CsvColumns<Row>,
  pagesOf: (call: Call, query: URLSearchParams) => Promise<AsyncIterable<readonly Row[]>>,
): (request: IncomingMessage, response: ServerResponse) => Promise<void> {
  return memberFile(service, publicUrl, {
    method: 'GET',
    mutation,
    async handle(call, query, _request, response) {
      const pages = await pagesOf({ ...call, appId: parameter(query, 'app'), idempotency: null }, query)
      response.writeHead(200, {
        'Content-Type': 'text/csv; charset=utf-8',
        'Content-Disposition': `attachment; filename="${name}.csv"`,
        'Cache-Control': 'no-store',
      })
      // Pages are read as fast as the browser receives them: one is in memory.
      await pipeline(Readable.from(csvPages(columns, pages), { highWaterMark: 1 }), response)
    },
  })
}

function oneOf<const Value extends string>(
  query: URLSearchParams,
  name: string,
  values: readonly Value[],
): Value | null {
  const asked = query.get(name)
  if (asked === null) return null
  const value = values.find((value) => value === asked)
  if (value === undefined) throw badUserInput(`${name} must be one of ${values.join(', ')}`, name)
  return value
}

const time = (at: number | null): string | null => (at === null ? null : new Date(at).toISOString())

const USER_COLUMNS: CsvColumns<ExportedUser> = [
  ['id', (row) => row.id],
  ['name', (row) => row.name],
  ['email', (row) => row.email],
  ['billingId', (row) => row.billingId],
  ['packages', (row) => row.held.map(({ id }) => id).join(' ')],
  ['subscription', (row) => row.subscription?.id],
  ['trialEndsAt', (row) => time(row.subscription?.trialEndsAt ?? null)],
  ['cancelAt', (row) => time(row.subscription?.cancelAt ?? null)],
  ['createdAt', (row) => time(row.createdAt)],
  ['metadata', (row) => row.metadata],
]

const SUBSCRIPTION_COLUMNS: CsvColumns<ExportedSubscription> = [
  ['id', (row) => row.id],
  ['userId', (row) => row.userId],
  ['userName', (row) => row.userName],
  ['package', (row) => row.package.id],
  ['status', (row) => row.status],
  ['quantity', (row) => row.quantity],
  ['version', (row) => row.packageVersion],
  ['startedAt', (row) => time(row.startedAt)],
  ['trialEndsAt', (row) => time(row.trialEndsAt)],
  ['cancelAt', (row) => time(row.cancelAt)],
  ['cancelledAt', (row) => time(row.cancelledAt)],
  ['provider', (row) => row.paid?.provider],
  ['providerRef', (row) => row.paid?.ref],
  ['amount', ({ price, quantity }) => price && displayAmount({ ...price, amount: price.amount * quantity })],
  ['currency', ({ price }) => price?.currency],
  ['interval', ({ price }) => price?.interval],
]
