import { badUserInput } from '../../domain/errors.ts'
import { bumpVersion } from '../../store/apps.ts'
import { insertFeature } from '../../store/features.ts'
import { insertPackage, insertPackageFeatures, publishPackage } from '../../store/packages.ts'
import * as store from '../../store/sample.ts'
import { peopleOf } from '../../store/subscribers.ts'
import { foundApp } from '../apps/apps.ts'
import type { Call } from '../call/call.ts'
import { mutate } from '../call/mutate.ts'
import { SAMPLE_FEATURES, SAMPLE_PACKAGES, SAMPLE_USERS, sampleUser } from './sample-catalogue.ts'
import { latestOf, sampleCalls, sampleLife } from './sample-life.ts'

export interface Sample {
  features: number
  packages: number
  users: number
  /** what stays on removal, since something else has come to depend on it */
  kept: string[]
}

/** Fills an app with a catalogue, customers and some months of their usage. */
export async function loadSample(call: Call): Promise<Sample> {
  const { appId } = call
  return mutate(call, async (tx) => {
    const { now, sampleLoaded } = await foundApp(tx, appId)
    if (sampleLoaded) throw badUserInput('The sample catalogue is already loaded')
    for (const feature of SAMPLE_FEATURES) {
      if (!(await insertFeature(tx, appId, feature))) throw taken(feature.id)
    }
    for (const { features, ...p } of SAMPLE_PACKAGES) {
      const made = { ...p, metadata: { sample: true }, updatedAt: now }
      if (!(await insertPackage(tx, appId, made))) throw taken(p.id)
      await insertPackageFeatures(tx, appId, p.id, features)
      await publishPackage(tx, appId, p.id, now)
    }
    const users = Array.from({ length: SAMPLE_USERS }, (_, i) => sampleUser(i))
    const uids = await store.insertSampleUsers(tx, appId, users)
    if (uids.length < users.length) throw taken('demo-user-…')
    const { subscriptions, counters, entries } = sampleLife(uids, now)
    await store.insertSampleSubscriptions(tx, appId, subscriptions)
    await store.insertSampleUsage(tx, appId, counters, entries)
    await store.insertSampleRecent(tx, appId, latestOf(entries))
    await store.insertSampleCalls(tx, appId, sampleCalls())
    await store.noteSample(
      tx,
      appId,
      'feature',
      SAMPLE_FEATURES.map(({ id }) => id),
    )
    await store.noteSample(
      tx,
      appId,
      'package',
      SAMPLE_PACKAGES.map(({ id }) => id),
    )
    await store.noteSample(tx, appId, 'user', uids.map(String))
    await bumpVersion(tx, appId)
    return {
      features: SAMPLE_FEATURES.length,
      packages: SAMPLE_PACKAGES.length,
      users: uids.length,
      kept: [],
    }
  })
}

/** Removes exactly what was loaded, except what something else has come to depend on. */
export async function removeSample(call: Call): Promise<Sample> {
  const { appId } = call
  return mutate(call, async (tx) => {
    const users = await store.removeSampleItems(tx, appId, 'user')
    const packages = await store.removeSampleItems(tx, appId, 'package')
    const features = await store.removeSampleItems(tx, appId, 'feature')
    await store.forgetSample(tx, appId)
    await bumpVersion(tx, appId)
    const people = await peopleOf(tx, appId, users.kept.map(Number))
    return {
      users: users.removed,
      packages: packages.removed,
      features: features.removed,
      kept: [...[...people.values()].map(({ userId }) => userId), ...packages.kept, ...features.kept],
    }
  })
}

const taken = (id: string) =>
  badUserInput(`The sample cannot be loaded: this app already has its own ${JSON.stringify(id)}`)
