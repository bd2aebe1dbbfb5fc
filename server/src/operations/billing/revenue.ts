import { exponentOf } from '../../domain/currency.ts'
import { badUserInput } from '../../domain/errors.ts'
import { isIdentifier } from '../../domain/identifier.ts'
import { type Mrr, mrrOf } from '../../domain/mrr.ts'
import {
  type ListedPayment,
  listPayments,
  type PaymentState,
  type PaymentTotal,
  paymentTotals,
} from '../../store/billing/payments.ts'
import {
  chargedPrices,
  countByPackage,
  countMovements,
  findFigures,
  type KeptFigures,
  keepFigures,
  type Movements,
  type PlanCount,
  tryLockFigures,
} from '../../store/billing/revenue.ts'
import { type ListedSubscription, listRevenue, type RevenueList } from '../../store/billing/revenue-lists.ts'
import {
  listMrr,
  listRefunds,
  type MrrRow,
  type RefundTotal,
  refundTotals,
} from '../../store/billing/revenue-money.ts'
import type { Tx } from '../../store/connection/database.ts'
import { readAnyApp } from '../../store/connection/read-any-app.ts'
import { requireApp } from '../apps/apps.ts'
import type { Call } from '../call/call.ts'
import { type KeyedPage, pageOf, pageSize, unknownCursor } from '../call/pages.ts'
import type { Page } from '../call/paging.ts'
import type { Service } from '../call/service.ts'
import { catalogueOf } from '../catalogue/catalogue.ts'

/** Ranges of the Revenue page, in days. */
const RANGES = [7, 30, 90, 365]
const DAY_MS = 86_400_000
/** Computing figures reads every live subscription, which takes a second and more for a million. */
const FRESH_MS = 5 * 60_000
/** Figures over this many subscriptions and payments take some 30 ms and are never cached. */
const FEW = 10_000

interface Figures extends Movements {
  plans: PlanCount[]
  mrr: Mrr[]
  /** by package; missing from figures that an earlier version computed */
  packageMrr?: (Mrr & { packageId: string })[]
  payments: PaymentTotal[]
  refunds: RefundTotal[]
}

type Named<Row> = Row & { packageName: string; isAddon: boolean }
type InUnits<Row> = Row & { decimals: number }

export interface Revenue extends Movements {
  asOf: number
  from: number
  trialing: number
  pastDue: number
  plans: (Named<PlanCount> & { mrr: InUnits<Mrr>[] })[]
  mrr: InUnits<Mrr>[]
  payments: InUnits<PaymentTotal & RefundTotal>[]
  /** live subscriptions with unknown prices */
}

/**
 * The figures of the last `days` days. Those of a large app are cached for five minutes, unless `fresh` is set. Those
 * of a small app are always current, so that a first sale shows up immediately.
 */
export async function revenue(call: Call, days: number, fresh: boolean): Promise<Revenue> {
  const { service, appId } = call
  checkDays(days)
  const { now } = await requireApp(service.pool, appId)
  const found = await findFigures<Figures>(service.pool, appId, days)
  const kept = found && sizeOf(found.figures) > FEW ? found : null
  const { asOf, figures } =
    kept && !fresh && isFresh(kept, now) ? kept : await newFigures(service, appId, days, now, kept)
  const { packages } = await catalogueOf(call)
  const plans = figures.plans
    .map((plan) => {
      const known = packages.get(plan.packageId)
      return {
        ...plan,
        packageName: known?.name ?? plan.packageId,
        isAddon: known?.isAddon ?? false,
        mrr: (figures.packageMrr ?? []).filter(({ packageId }) => packageId === plan.packageId).map(inUnits),
      }
    })
    .sort((a, b) => Number(a.isAddon) - Number(b.isAddon) || liveOf(b) - liveOf(a))
  const sum = (of: 'trialing' | 'pastDue') => plans.reduce((total, plan) => total + plan[of], 0)
  return {
    ...figures,
    asOf,
    from: asOf - days * DAY_MS,
    plans,
    trialing: sum('trialing'),
    pastDue: sum('pastDue'),
    mrr: figures.mrr.map(inUnits),
    payments: together(figures.payments, figures.refunds).map(inUnits),
  }
}

/** Payments and refunds by provider and currency. The refunds may be of earlier payments. */
function together(
  payments: readonly PaymentTotal[],
  refunds: readonly RefundTotal[],
): (PaymentTotal & RefundTotal)[] {
  const same = (a: RefundTotal | PaymentTotal) => (b: RefundTotal | PaymentTotal) =>
    a.provider === b.provider && a.currency === b.currency
  const nothing = { paid: 0, paidAmount: 0, failed: 0, failedAmount: 0, refunded: 0, refundedAmount: 0 }
  return [
    ...payments.map((total) => ({ ...nothing, ...refunds.find(same(total)), ...total })),
    ...refunds.filter((total) => !payments.some(same(total))).map((total) => ({ ...nothing, ...total })),
  ]
}

const inUnits = <Row extends { provider: string; currency: string }>(row: Row): InUnits<Row> => ({
  ...row,
  decimals: exponentOf(row.provider, row.currency),
})

const liveOf = ({ active, trialing, pastDue }: PlanCount): number => active + trialing + pastDue

const sizeOf = ({ plans, started, changed, ended, payments }: Figures): number =>
  started +
  changed +
  ended +
  plans.reduce((sum, plan) => sum + liveOf(plan), 0) +
  payments.reduce((sum, { paid, failed }) => sum + paid + failed, 0)

/** A test clock may have been moved since. */
function isFresh({ asOf, ageMs }: KeptFigures<Figures>, now: number): boolean {
  return ageMs < FRESH_MS && asOf <= now && now - asOf < FRESH_MS
}

/** If another transaction is computing them, returns the cached ones, if any. */
async function newFigures(
  { pool, primary }: Service,
  appId: string,
  days: number,
  now: number,
  kept: KeptFigures<Figures> | null,
): Promise<{ asOf: number; figures: Figures }> {
  const made = await readAnyApp(pool, async (tx) => {
    const locked = await tryLockFigures(tx, appId)
    return !locked && kept ? kept : { asOf: now, figures: await countFigures(tx, appId, days, now) }
  })
  if (made !== kept) await keepFigures(primary, appId, days, now, made.figures)
  return made
}

async function countFigures(tx: Tx, appId: string, days: number, now: number): Promise<Figures> {
  const from = now - days * DAY_MS
  const charged = await chargedPrices(tx, appId, now)
  return {
    ...(await countMovements(tx, appId, from, now)),
    plans: await countByPackage(tx, appId, now),
    mrr: mrrOf(charged),
    packageMrr: mrrByPackage(charged),
    payments: await paymentTotals(tx, appId, from, now),
    refunds: await refundTotals(tx, appId, from, now),
  }
}

function mrrByPackage(charged: readonly ChargedOf[]): (Mrr & { packageId: string })[] {
  const byPackage = new Map<string, ChargedOf[]>()
  for (const one of charged) byPackage.set(one.packageId, [...(byPackage.get(one.packageId) ?? []), one])
  return [...byPackage].flatMap(([packageId, ofPackage]) =>
    mrrOf(ofPackage).map((mrr) => ({ packageId, ...mrr })),
  )
}

type ChargedOf = Awaited<ReturnType<typeof chargedPrices>>[number]

/** The subscriptions behind a figure, newest first. */
export async function revenueList(
  call: Call,
  list: RevenueList,
  days: number,
  { first, after }: Page,
): Promise<KeyedPage<Named<ListedSubscription> & { fromPackageName: string | null }>> {
  const { pool } = call.service
  const span = await spanOf(call, days)
  const size = pageSize(first)
  const rows = await readAnyApp(pool, (tx) =>
    listRevenue(tx, call.appId, list, span, cursorKey(after), size + 1),
  )
  const { packages } = await catalogueOf(call)
  const page = pageOf(rows, size, cursorAt)
  return {
    ...page,
    rows: page.rows.map((row) => {
      const { packageId, fromPackageId: from } = row
      const known = packages.get(packageId)
      return {
        ...row,
        packageName: known?.name ?? packageId,
        isAddon: known?.isAddon ?? false,
        fromPackageName: from === null ? null : (packages.get(from)?.name ?? from),
      }
    }),
  }
}

/** The subscriptions in the monthly recurring revenue, with their amounts. */
export async function mrrList(
  call: Call,
  { first, after }: Page,
): Promise<KeyedPage<Omit<MrrRow, 'charged'> & InUnits<Mrr> & { packageNames: string[] }>> {
  const { pool } = call.service
  const { now } = await requireApp(pool, call.appId)
  const size = pageSize(first)
  const rows = await readAnyApp(pool, (tx) => listMrr(tx, call.appId, now, parseMrrCursor(after), size + 1))
  const { packages } = await catalogueOf(call)
  const page = pageOf(rows, size, ({ provider, ref }) => `${provider} ${ref}`)
  return {
    ...page,
    rows: page.rows.flatMap(({ charged, ...row }) =>
      mrrOf(charged).map((mrr) => ({
        ...row,
        ...inUnits(mrr),
        packageNames: row.packageIds.map((id) => packages.get(id)?.name ?? id),
      })),
    ),
  }
}

function parseMrrCursor(after: string | null | undefined): { provider: string; ref: string } | null {
  if (after === null || after === undefined) return null
  const [provider = '', ref = ''] = after.split(' ', 2)
  if (!isIdentifier(provider) || !isIdentifier(ref)) throw unknownCursor()
  return { provider, ref }
}

/** Payments, failed payments or refunds, newest first. */
export async function payments(
  call: Call,
  state: PaymentState | 'REFUNDED',
  days: number,
  { first, after }: Page,
): Promise<KeyedPage<InUnits<ListedPayment>>> {
  const span = await spanOf(call, days)
  const size = pageSize(first)
  const { pool } = call.service
  const rows =
    state === 'REFUNDED'
      ? await readAnyApp(pool, (tx) => listRefunds(tx, call.appId, span, cursorKey(after), size + 1))
      : await readAnyApp(pool, (tx) => listPayments(tx, call.appId, state, span, cursorKey(after), size + 1))
  return pageOf(rows.map(inUnits), size, cursorAt)
}

async function spanOf({ service, appId }: Call, days: number): Promise<{ from: number; now: number }> {
  checkDays(days)
  const { now } = await requireApp(service.pool, appId)
  return { from: now - days * DAY_MS, now }
}

function checkDays(days: number): void {
  if (!RANGES.includes(days)) throw badUserInput(`days must be one of ${RANGES.join(', ')}`, 'days')
}

export const cursorAt = ({ at, seq }: { at: number; seq: number }) => `${at}.${seq}`

export function cursorKey(after: string | null | undefined): { at: number; seq: number } | null {
  if (after === null || after === undefined) return null
  const [, at, seq] = /^(-?\d{1,15})\.(\d{1,15})$/.exec(after) ?? []
  if (at === undefined || seq === undefined) throw unknownCursor()
  return { at: Number(at), seq: Number(seq) }
}
