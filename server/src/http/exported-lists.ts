import { MAX_DELIVERIES, MAX_NOTICES } from '../domain/limits.ts'
import { displayAmount } from '../domain/price.ts'
import { notices, type ShownNotice } from '../operations/billing/notices.ts'
import { mrrList, payments, revenueList } from '../operations/billing/revenue.ts'
import type { Call } from '../operations/call/call.ts'
import type { KeyedPage } from '../operations/call/pages.ts'
import type { Page } from '../operations/call/paging.ts'
import { ledger } from '../operations/usage/user-usage.ts'
import { type ShownDelivery, webhookDeliveries } from '../operations/webhooks/webhook-deliveries.ts'
import { NOTICE_STATES } from '../store/billing/notices.ts'
import { PAYMENT_STATES } from '../store/billing/payments.ts'
import { REVENUE_LISTS } from '../store/billing/revenue-lists.ts'
import type { LedgerRow } from '../store/ledger/ledger.ts'
import { DELIVERY_STATES } from '../store/webhooks/deliveries.ts'
import { type CsvColumns, time } from './csv-pages.ts'
import { oneOf, parameter } from './member-file.ts'

/** A list of the dashboard as CSV. */
export interface ExportedList<Row> {
  columns: CsvColumns<Row>
  /** Reads the list with the filters of the URL. */
  reader(call: Call, query: URLSearchParams): (page: Page) => Promise<KeyedPage<Row>>
  /** if the list has shorter pages than others */
  pageSize?: number
}

type RowsOf<List extends (...args: never[]) => Promise<KeyedPage<unknown>>> = Awaited<
  ReturnType<List>
>['rows'][number]

const LEDGER: ExportedList<LedgerRow & { userId: string }> = {
  columns: [
    ['id', ({ seq }) => seq],
    ['user', ({ userId }) => userId],
    ['recordedAt', (row) => time(row.recordedAt)],
    ['feature', ({ featureId }) => featureId],
    ['action', ({ action }) => action],
    ['change', ({ delta }) => delta],
    ['totalAfter', ({ used }) => used],
    ['periodStart', (row) => time(row.periodStart)],
    ['credit', ({ credit }) => credit],
  ],
  reader(call, query) {
    const userId = parameter(query, 'userId')
    const featureId = query.get('featureId')
    return async ({ first, after }) => {
      const { rows, next } = await ledger(call, userId, featureId, first, after)
      return { rows: rows.map((row) => ({ ...row, userId })), next }
    }
  },
}

const PAYMENTS: ExportedList<RowsOf<typeof payments>> = {
  columns: [
    ['ref', ({ ref }) => ref],
    ['provider', ({ provider }) => provider],
    ['state', ({ state }) => state],
    ['at', (row) => time(row.at)],
    ['userId', ({ userId }) => userId],
    ['userName', ({ userName }) => userName],
    ['amount', (row) => displayAmount(row)],
    ['currency', ({ currency }) => currency],
  ],
  reader(call, query) {
    const state = oneOf(query, 'state', [...PAYMENT_STATES, 'REFUNDED'] as const) ?? 'PAID'
    const days = daysOf(query)
    return (page) => payments(call, state, days, page)
  },
}

const REVENUE: ExportedList<RowsOf<typeof revenueList>> = {
  columns: [
    ['id', ({ id }) => id],
    ['at', (row) => time(row.at)],
    ['userId', ({ userId }) => userId],
    ['userName', ({ userName }) => userName],
    ['package', ({ packageId }) => packageId],
    ['fromPackage', ({ fromPackageId }) => fromPackageId],
    ['provider', ({ provider }) => provider],
  ],
  reader(call, query) {
    const list = oneOf(query, 'list', REVENUE_LISTS) ?? 'NEW'
    const days = daysOf(query)
    return (page) => revenueList(call, list, days, page)
  },
}

const MRR: ExportedList<RowsOf<typeof mrrList>> = {
  columns: [
    ['ref', ({ ref }) => ref],
    ['provider', ({ provider }) => provider],
    ['since', (row) => time(row.since)],
    ['userId', ({ userId }) => userId],
    ['userName', ({ userName }) => userName],
    ['packages', ({ packageIds }) => packageIds.join(' ')],
    ['amount', (row) => displayAmount(row)],
    ['currency', ({ currency }) => currency],
  ],
  reader: (call) => (page) => mrrList(call, page),
}

const WEBHOOK_EVENTS: ExportedList<ShownNotice> = {
  columns: [
    ['id', ({ seq }) => seq],
    ['provider', ({ provider }) => provider],
    ['eventId', ({ eventId }) => eventId],
    ['type', ({ type }) => type],
    ['state', ({ state }) => state],
    ['attempts', ({ attempts }) => attempts],
    ['lastError', ({ lastError }) => lastError],
    ['receivedAt', (row) => time(row.receivedAt)],
    ['handledAt', (row) => time(row.handledAt)],
    ['user', ({ user }) => user?.text],
  ],
  pageSize: MAX_NOTICES - 1,
  reader(call, query) {
    const filter = {
      provider: query.get('provider'),
      state: oneOf(query, 'state', NOTICE_STATES),
      type: null,
    }
    return async ({ first, after }) => {
      const size = first ?? 1
      const found = await notices(call, filter, size + 1, after ?? null)
      const rows = found.slice(0, size)
      return { rows, next: found.length > size ? String(rows.at(-1)?.seq) : null }
    }
  },
}

const DELIVERIES: ExportedList<ShownDelivery> = {
  columns: [
    ['id', ({ seq }) => seq],
    ['eventId', ({ eventId }) => eventId],
    ['type', ({ eventType }) => eventType],
    ['state', ({ state }) => state],
    ['attempts', ({ attempts }) => attempts],
    ['lastStatus', ({ log }) => log.at(-1)?.status],
    ['lastError', ({ log }) => log.at(-1)?.error],
    ['createdAt', (row) => time(row.createdAt)],
    ['nextAttemptAt', (row) => time(row.dueAt)],
    ['userId', ({ userId }) => userId],
  ],
  pageSize: MAX_DELIVERIES,
  reader(call, query) {
    const endpoint = parameter(query, 'endpointId')
    const state = oneOf(query, 'state', DELIVERY_STATES)
    return (page) => webhookDeliveries(call, endpoint, state, page)
  },
}

/** The last segment of the path names the list and its file. */
export const EXPORTED_LISTS = {
  ledger: LEDGER,
  payments: PAYMENTS,
  revenue: REVENUE,
  mrr: MRR,
  'webhook-events': WEBHOOK_EVENTS,
  deliveries: DELIVERIES,
}

const daysOf = (query: URLSearchParams): number => Number(query.get('days') ?? 30)
