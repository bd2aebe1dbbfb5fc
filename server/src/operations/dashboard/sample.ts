import { badUserInput } from '../../domain/errors.ts'
import { pastPeriods, periodAt } from '../../domain/period.ts'
import { bumpVersion } from '../../store/apps.ts'
import type { Tx } from '../../store/database.ts'
import { insertFeature } from '../../store/features.ts'
import { insertPackage, insertPackageFeatures, publishPackage } from '../../store/packages.ts'
import * as store from '../../store/sample.ts'
import { changeApp, type MemberCall } from './member-call.ts'
import {
  SAMPLE_FEATURES,
  SAMPLE_PACKAGES,
  SAMPLE_USERS,
  type SamplePackage,
  sampleNumbers,
  sampleUser,
} from './sample-catalogue.ts'

export interface Sample {
  features: number
  packages: number
  users: number
  /** what stays when it is removed, since something else has come to rely on it */
  kept: string[]
}

/** Fills an app with a catalogue, customers and some months of their usage. */
export async function loadSample(call: MemberCall, appId: string): Promise<Sample> {
  return changeApp(call, appId, async (tx, { now, sampleLoaded }) => {
    if (sampleLoaded) throw badUserInput('The sample catalogue is loaded already')
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
    await lived(tx, appId, uids, now)
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

/** Takes away exactly what was loaded, but for what something else has come to rely on. */
export async function removeSample(call: MemberCall, appId: string): Promise<Sample> {
  return changeApp(call, appId, async (tx) => {
    const users = await store.removeSampleItems(tx, appId, 'user')
    const packages = await store.removeSampleItems(tx, appId, 'package')
    const features = await store.removeSampleItems(tx, appId, 'feature')
    await store.forgetSample(tx, appId)
    await bumpVersion(tx, appId)
    return {
      users: users.removed,
      packages: packages.removed,
      features: features.removed,
      kept: [...users.kept, ...packages.kept, ...features.kept],
    }
  })
}

const taken = (id: string) =>
  badUserInput(`The sample cannot be loaded: this app has a ${JSON.stringify(id)} of its own`)

const DAY = 86_400_000
const [free, team, business, extra] = SAMPLE_PACKAGES as [
  SamplePackage,
  SamplePackage,
  SamplePackage,
  SamplePackage,
]

/** Subscriptions of the last months, and what was used under them. */
async function lived(tx: Tx, appId: string, uids: readonly number[], now: number): Promise<void> {
  const random = sampleNumbers()
  const subscriptions: store.SampleSubscription[] = []
  const counters: store.SampleCounter[] = []
  const entries: store.SampleEntry[] = []
  for (const [i, uid] of uids.entries()) {
    const plan = random() < 0.5 ? free : random() < 0.75 ? team : business
    const startedAt = now - Math.floor((5 + random() * 145) * DAY)
    const endedAt = random() < 0.08 ? now - Math.floor(random() * 4 * DAY) : null
    const held = plan !== business && random() < 0.2 ? [plan, extra] : [plan]
    for (const { id: packageId, isAddon } of held) {
      const id = `demo-sub-${i + 1}-${isAddon ? 'extra' : 'plan'}`
      subscriptions.push({ uid, id, packageId, isAddon, startedAt, endedAt })
    }
    const eagerness = random()
    for (const { featureId, limit, resetPeriod } of plan.features) {
      if (SAMPLE_FEATURES.find(({ id }) => id === featureId)?.type === 'BINARY') continue
      const extraLimit =
        held.length > 1 ? (extra.features.find((f) => f.featureId === featureId)?.limit ?? 0) : 0
      const budget = (limit ?? 200) + extraLimit
      const until = endedAt ?? now
      const periods = [
        ...pastPeriods(resetPeriod, startedAt, until, 24),
        periodAt(resetPeriod, startedAt, until),
      ]
      for (const { start, end } of periods) {
        const from = Math.max(start, startedAt)
        const to = Math.min(end ?? until, until)
        const parts = 1 + Math.floor(random() * 5)
        const wanted = Math.floor(budget * Math.min(1, eagerness * (0.5 + random() * 0.7)))
        let used = 0
        for (let part = 1; part <= parts; part++) {
          const delta = Math.floor((wanted * part) / parts) - used
          if (delta === 0) continue
          used += delta
          const recordedAt = from + Math.floor(((to - from) * part) / (parts + 1))
          entries.push({ uid, featureId, resetPeriod, periodStart: start, delta, used, recordedAt })
        }
        if (used > 0) counters.push({ uid, featureId, resetPeriod, periodStart: start, used })
      }
    }
  }
  await store.insertSampleSubscriptions(tx, appId, subscriptions)
  await store.insertSampleUsage(tx, appId, counters, entries)
}
