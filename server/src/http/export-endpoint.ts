import type { IncomingMessage, ServerResponse } from 'node:http'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { displayAmount } from '../domain/price.ts'
import type { Call, InstallationCall } from '../operations/call/call.ts'
import { exportList } from '../operations/call/export-list.ts'
import type { Service } from '../operations/call/service.ts'
import type { DashboardFile } from '../operations/registry/registry.ts'
import {
  type ExportedSubscription,
  exportSubscriptions,
} from '../operations/subscriptions/export-subscriptions.ts'
import { type ExportedUser, exportUsers } from '../operations/users/export-users.ts'
import { USER_ORDERS } from '../operations/users/list-users.ts'
import { SUBSCRIPTION_STATES } from '../store/subscriptions/subscription-list.ts'
import { type CsvColumns, csvPages, time } from './csv-pages.ts'
import { EXPORTED_LISTS, type ExportedList } from './exported-lists.ts'
import { memberFile, oneOf, parameter } from './member-file.ts'

/** `GET /dashboard/export/<list>?app=ID&…`: lists as CSV, with the filters of their pages. By path. */
export function exportEndpoint(service: Service, publicUrl: () => string): ReadonlyMap<string, Handler> {
  const list = <Row>(name: string, { columns, reader, pageSize }: ExportedList<Row>) =>
    exportFile(service, publicUrl, 'exportList', name, columns, (call, query) =>
      exportList(call, reader(call, query), pageSize),
    )
  const { ledger, payments, revenue, mrr, deliveries } = EXPORTED_LISTS
  const files: Record<string, Handler> = {
    ledger: list('ledger', ledger),
    payments: list('payments', payments),
    revenue: list('revenue', revenue),
    mrr: list('mrr', mrr),
    'webhook-events': list('webhook-events', EXPORTED_LISTS['webhook-events']),
    deliveries: list('deliveries', deliveries),
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
          oneOf(query, 'order', ['NEWEST', 'OLDEST'] as const) ?? 'NEWEST',
        ),
    ),
  }
  return new Map(Object.entries(files).map(([name, handle]) => [`/dashboard/export/${name}`, handle]))
}

type Handler = (request: IncomingMessage, response: ServerResponse) => Promise<void>

function exportFile<Row>(
  service: Service,
  publicUrl: () => string,
  mutation: 'exportUsers' | 'exportSubscriptions' | 'exportList',
  name: string,
  columns: CsvColumns<Row>,
  pagesOf: (call: Call, query: URLSearchParams) => Promise<AsyncIterable<readonly Row[]>>,
): Handler {
  return memberFile(service, publicUrl, {
    method: 'GET',
    mutation,
    async handle(call, query, _request, response) {
      const pages = await pagesOf(callOf(call, mutation, name, parameter(query, 'app')), query)
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

/** The export is the subject of its audit entry. */
function callOf(call: InstallationCall, mutation: DashboardFile, list: string, appId: string): Call {
  const { member } = call.actor
  const actor = { kind: 'member' as const, member, mutation: { name: mutation, args: { list } } }
  return { ...call, actor, appId, idempotency: null }
}

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
