import type { Catalogue } from '../../domain/catalogue.ts'
import { checkDeletable, counted, deletionRefusal } from '../../domain/deletion.ts'
import { badUserInput, quote, TollgateError } from '../../domain/errors.ts'
import { checkIdentifier, checkText, isIdentifier } from '../../domain/identifier.ts'
import { MAX_BILLING_TEMPLATES } from '../../domain/limits.ts'
import {
  checkTemplatePackages,
  checkTotal,
  choicesOf,
  offerOf,
  pricesOf,
  type TemplateItem,
} from '../../domain/offer.ts'
import type { Package } from '../../domain/package.ts'
import { defaultPrice, type Interval, type Price } from '../../domain/price.ts'
import { checkTerms, type SaleTerms } from '../../domain/sale-terms.ts'
import * as store from '../../store/billing/billing-templates.ts'
import { listPrices, type PriceRow } from '../../store/billing/prices.ts'
import { linksOfTemplate, lockTemplate } from '../../store/catalogue/references.ts'
import type { HomeDb } from '../../store/connection/places.ts'
import type { Call } from '../call/call.ts'
import { mutate } from '../call/mutate.ts'
import { requireCatalogue, requirePackage } from '../call/require.ts'

/** The packages and prices of a template. */
export function templateItems(
  { items }: Pick<store.TemplateRow, 'items'>,
  catalogue: Catalogue,
): TemplateItem[] {
  return items.map(({ packageId, chosen }) => ({ package: requirePackage(catalogue, packageId), chosen }))
}

/** A template with its current prices. */
export interface BillingTemplate extends Omit<store.TemplateRow, 'items' | 'terms'>, SaleTerms {
  packages: Package[]
  prices: PriceRow[]
  provider: string | null
  problem: string | null
  /** what payers choose between; empty: nothing */
  choices: { interval: Interval; prices: PriceRow[] }[]
}

interface TemplateInput extends SaleTerms {
  id: string
  name: string
  packageIds: string[]
  priceIds: string[]
}

type Reading = Pick<Call, 'service' | 'appId'>

export async function billingTemplates(
  { service, appId }: Reading,
  includeArchived: boolean,
): Promise<BillingTemplate[]> {
  const catalogue = await requireCatalogue(service.pool, appId)
  const rows = await store.listTemplates(service.pool, appId, includeArchived)
  return shown(service.pool, appId, catalogue, rows)
}

export async function billingTemplate({ service, appId }: Reading, id: string): Promise<BillingTemplate> {
  const catalogue = await requireCatalogue(service.pool, appId)
  return requireTemplate(service.pool, appId, id, catalogue)
}

export async function createBillingTemplate(
  call: Call,
  { id, name, packageIds, priceIds, ...given }: TemplateInput,
): Promise<BillingTemplate> {
  const { appId } = call
  checkIdentifier('id', id)
  checkText('name', name)
  const terms = checkTerms(given)
  return mutate(call, async (tx) => {
    const catalogue = await requireCatalogue(tx, appId)
    const packages = packageIds.map((packageId) => requirePackage(catalogue, packageId))
    checkTemplatePackages(packages)
    const items = packages.map((p) => ({ packageId: p.id, price: chosenPrice(p, priceIds) }))
    const stray = priceIds.find((priceId) => !items.some((item) => item.price?.id === priceId))
    if (stray !== undefined) {
      throw badUserInput(
        `${quote(stray)} is not a live price of these packages, or its package has another price in priceIds`,
        'priceIds',
      )
    }
    checkTotal(packages.map((p) => chosenPrice(p, priceIds) ?? defaultPrice(p.prices)))
    if (!(await store.insertTemplate(tx, appId, { id, name, items, terms }))) {
      throw badUserInput(`A billing template with the id ${quote(id)} already exists`, 'id')
    }
    if ((await store.countTemplates(tx, appId)) > MAX_BILLING_TEMPLATES)
      throw badUserInput(
        `An app can have at most ${MAX_BILLING_TEMPLATES} billing templates. Delete unused ones first.`,
      )
    return requireTemplate(tx, appId, id, catalogue)
  })
}

const chosenPrice = ({ prices }: Package, priceIds: readonly string[]) =>
  prices.find((price) => priceIds.includes(price.id)) ?? null

export async function archiveBillingTemplate(
  call: Call,
  id: string,
  archived: boolean,
): Promise<BillingTemplate> {
  const { appId } = call
  return mutate(call, async (tx) => {
    if (!isIdentifier(id) || !(await store.archiveTemplate(tx, appId, id, archived))) {
      throw templateNotFound(id)
    }
    const catalogue = await requireCatalogue(tx, appId)
    return requireTemplate(tx, appId, id, catalogue)
  })
}

/** Reason why a template cannot be deleted; null: it can. */
export async function templateUse(
  { service, appId }: Reading,
  id: string,
): Promise<{ links: number; refusal: string | null }> {
  await billingTemplate({ service, appId }, id)
  const links = await linksOfTemplate(service.pool, appId, id)
  return { links, refusal: deletionRefusal('billing template', id, reasons(links)) }
}

/** Deletes a template without stored payment links. */
export async function deleteBillingTemplate(call: Call, id: string): Promise<{ id: string }> {
  const { appId } = call
  return mutate(call, async (tx) => {
    // Counted with the template's row locked, to which a new link would refer.
    if (!isIdentifier(id) || !(await lockTemplate(tx, appId, id))) throw templateNotFound(id)
    checkDeletable('billing template', id, reasons(await linksOfTemplate(tx, appId, id)))
    await store.deleteTemplate(tx, appId, id)
    return { id }
  })
}

const reasons = (links: number) => [counted('has', links, 'payment link', 'payment links')]

async function requireTemplate(
  db: HomeDb,
  appId: string,
  id: string,
  catalogue: Catalogue,
): Promise<BillingTemplate> {
  const row = isIdentifier(id) ? await store.findTemplate(db, appId, id) : null
  const [template] = row ? await shown(db, appId, catalogue, [row]) : []
  if (!template) throw templateNotFound(id)
  return template
}

async function shown(
  db: HomeDb,
  appId: string,
  catalogue: Catalogue,
  rows: readonly store.TemplateRow[],
): Promise<BillingTemplate[]> {
  const known = rows.length === 0 ? [] : await listPrices(db, appId, null, true)
  return rows.map(({ items: stored, terms, ...row }) => {
    const items = templateItems({ items: stored }, catalogue)
    const offer = offerOf(items, terms)
    const rowsOf = (prices: readonly (Price | null)[]) =>
      prices.flatMap((price) => known.find((k) => k.id === price?.id && k.provider === price.provider) ?? [])
    return {
      ...row,
      ...terms,
      packages: items.map((item) => item.package),
      prices: rowsOf(pricesOf(items)),
      choices: choicesOf(items, terms).map((choice) => ({
        interval: choice.interval,
        prices: rowsOf(choice.items.map(({ price }) => price)),
      })),
      provider: 'problem' in offer ? null : offer.provider,
      problem: 'problem' in offer ? offer.problem : null,
    }
  })
}

const templateNotFound = (id: string) =>
  new TollgateError('TEMPLATE_NOT_FOUND', `Billing template not found: ${quote(id)}`)
