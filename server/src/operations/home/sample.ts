import { badUserInput } from '../../domain/errors.ts'
import { PLAIN_TERMS } from '../../domain/sale-terms.ts'
import { bumpVersion } from '../../store/apps/apps.ts'
import { insertTemplate } from '../../store/billing/billing-templates.ts'
import { insertPrice } from '../../store/billing/prices.ts'
import { insertFeature } from '../../store/catalogue/features.ts'
import { insertPackage, insertPackageFeatures, publishPackage } from '../../store/catalogue/packages.ts'
import { type Tx, transaction } from '../../store/connection/database.ts'
import { silenceEvents } from '../../store/events/outbox.ts'
import { removeSampleItems } from '../../store/sample/remove-sample.ts'
import * as store from '../../store/sample/sample.ts'
import { insertSampleBills } from '../../store/sample/sample-bills.ts'
import { peopleOf } from '../../store/subscriptions/subscribers.ts'
import { insertSampleFeatureCalls } from '../../store/usage/feature-activity.ts'
import { requireApp } from '../apps/apps.ts'
import type { Call } from '../call/call.ts'
import { mutate } from '../call/mutate.ts'
import {
  SAMPLE_FEATURES,
  SAMPLE_PACKAGES,
  SAMPLE_PRICES,
  SAMPLE_TEMPLATES,
  SAMPLE_USERS,
  sampleUser,
} from './sample-catalogue.ts'
import {
  latestOf,
  sampleBills,
  sampleCalls,
  sampleDenials,
  sampleFeatureCalls,
  sampleLife,
} from './sample-life.ts'

export interface Sample {
  features: number
  packages: number
  prices: number
  templates: number
  users: number
  subscriptions: number
  payments: number
  /** not removed, because other objects depend on it */
  kept: string[]
}

/** Fills an app with a catalogue, customers and some months of their usage. */
export async function loadSample(call: Call): Promise<Sample> {
  const { appId } = call
  return mutate(call, async (tx) => {
    const { now, sampleLoaded } = await requireApp(tx, appId)
    if (sampleLoaded) throw badUserInput('The sample catalogue is already loaded')
    await silenceEvents(tx)
    for (const feature of SAMPLE_FEATURES) {
      if (!(await insertFeature(tx, appId, feature))) throw taken(feature.id)
    }
    for (const { features, ...p } of SAMPLE_PACKAGES) {
      const made = { ...p, metadata: { sample: true }, updatedAt: now }
      if (!(await insertPackage(tx, appId, made))) throw taken(p.id)
      await insertPackageFeatures(tx, appId, p.id, features)
      await publishPackage(tx, appId, p.id, now, { author: null, note: null })
    }
    await loadOffers(tx, appId)
    const users = Array.from({ length: SAMPLE_USERS }, (_, i) => sampleUser(i))
    const uids = await store.insertSampleUsers(tx, appId, users)
    if (uids.length < users.length) throw taken('demo-user-…')
    const life = sampleLife(uids, now)
    const { subscriptions, counters, entries } = life
    const bills = sampleBills(subscriptions, now)
    await insertSampleBills(tx, appId, bills)
    await store.insertSampleSubscriptions(tx, appId, subscriptions)
    await store.insertSampleUsage(tx, appId, counters, entries)
    await store.insertSampleRecent(tx, appId, latestOf(entries))
    await store.insertSampleDenials(tx, appId, sampleDenials(life, now))
    await store.insertSampleCalls(tx, appId, sampleCalls())
    await insertSampleFeatureCalls(tx, appId, sampleFeatureCalls(entries, now))
    const ids = (of: readonly { id: string }[]) => of.map(({ id }) => id)
    await store.noteSample(tx, appId, 'feature', ids(SAMPLE_FEATURES))
    await store.noteSample(tx, appId, 'package', ids(SAMPLE_PACKAGES))
    await store.noteSample(tx, appId, 'price', ids(SAMPLE_PRICES.map(({ price }) => price)))
    await store.noteSample(tx, appId, 'template', ids(SAMPLE_TEMPLATES))
    await store.noteSample(tx, appId, 'user', uids.map(String))
    await bumpVersion(tx, appId)
    return {
      features: SAMPLE_FEATURES.length,
      packages: SAMPLE_PACKAGES.length,
      prices: SAMPLE_PRICES.length,
      templates: SAMPLE_TEMPLATES.length,
      users: uids.length,
      subscriptions: subscriptions.length,
      payments: bills.reduce((sum, { charges }) => sum + charges.length, 0),
      kept: [],
    }
  })
}

async function loadOffers(tx: Tx, appId: string): Promise<void> {
  for (const { packageId, price } of SAMPLE_PRICES) {
    if (!(await insertPrice(tx, appId, { packageId, credits: null }, price))) throw taken(price.id)
  }
  const priceOf = (packageId: string) =>
    SAMPLE_PRICES.find((offered) => offered.packageId === packageId)?.price ?? null
  for (const { id, name, packageIds, trialDays } of SAMPLE_TEMPLATES) {
    const items = packageIds.map((packageId) => ({ packageId, price: priceOf(packageId) }))
    if (!(await insertTemplate(tx, appId, { id, name, items, terms: { ...PLAIN_TERMS, trialDays } })))
      throw taken(id)
  }
}

/** Removes the sample, except objects that others depend on. A dry run only counts. */
export async function removeSample(call: Call, dryRun: boolean): Promise<Sample> {
  const { service, appId } = call
  if (!dryRun) return mutate(call, (tx) => remove(tx, appId))
  let counted: Sample | undefined
  const undone = new Error('dry run rolled back')
  await transaction(service.pool, async (tx) => {
    await requireApp(tx, appId)
    counted = await remove(tx, appId)
    throw undone
  }).catch((error) => {
    if (error !== undone) throw error
  })
  if (!counted) throw new Error('the dry run returned no counts')
  return counted
}

async function remove(tx: Tx, appId: string): Promise<Sample> {
  await silenceEvents(tx)
  const ofUsers = await store.countOfSampleUsers(tx, appId)
  const users = await removeSampleItems(tx, appId, 'user')
  const templates = await removeSampleItems(tx, appId, 'template')
  const prices = await removeSampleItems(tx, appId, 'price')
  const packages = await removeSampleItems(tx, appId, 'package')
  const features = await removeSampleItems(tx, appId, 'feature')
  await store.forgetSample(tx, appId)
  await bumpVersion(tx, appId)
  const people = await peopleOf(tx, appId, users.kept.map(Number))
  return {
    users: users.removed,
    ...ofUsers,
    templates: templates.removed,
    prices: prices.removed,
    packages: packages.removed,
    features: features.removed,
    kept: [
      ...[...people.values()].map(({ userId }) => userId),
      ...templates.kept,
      ...prices.kept,
      ...packages.kept,
      ...features.kept,
    ],
  }
}

const taken = (id: string) =>
  badUserInput(
    `The sample cannot be loaded because this app already has an object with the ID ${JSON.stringify(id)}`,
  )
