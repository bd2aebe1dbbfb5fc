import { appNotFound, badUserInput, quote } from '../../domain/errors.ts'
import { checkIdentifier, checkText, isIdentifier } from '../../domain/identifier.ts'
import { LATEST_TEST_CLOCK, MAX_ORIGINS } from '../../domain/limits.ts'
import { timeOf } from '../../domain/time.ts'
import { parseUrl } from '../../domain/url.ts'
import {
  type AppRow,
  bumpVersion,
  findApp,
  insertApp,
  type ListedApp,
  listApps,
  setTestClock,
  setName as storeName,
  setOrigins as storeOrigins,
} from '../../store/apps/apps.ts'
import type { HomeDb } from '../../store/connection/places.ts'
import { addJob } from '../../store/jobs/jobs.ts'
import type { Call, InstallationCall } from '../call/call.ts'
import { mutate } from '../call/mutate.ts'

export function apps({ service }: InstallationCall): Promise<ListedApp[]> {
  return listApps(service.pool)
}

export async function app({ service, appId }: Call): Promise<AppRow> {
  return requireApp(service.pool, appId)
}

/** The same call, after checking that the app exists. */
export async function inApp(call: Call): Promise<Call> {
  await requireApp(call.service.pool, call.appId)
  return call
}

export async function createApp(
  call: InstallationCall,
  id: string,
  name: string,
  testClock: boolean,
): Promise<AppRow> {
  checkIdentifier('id', id)
  checkText('name', name)
  return mutate(call, async (tx) => {
    if (!(await insertApp(tx, id, name, testClock))) {
      throw badUserInput(`An app with the id ${quote(id)} already exists`, 'id')
    }
    return requireApp(tx, id)
  })
}

export async function renameApp(call: Call, name: string): Promise<AppRow> {
  const { appId } = call
  checkText('name', name)
  return mutate(call, async (tx) => {
    await storeName(tx, appId, name)
    return requireApp(tx, appId)
  })
}

/** Moves an app's test clock forward; renewals and cancellations due by then take effect. */
export async function advanceClock(call: Call, to: string): Promise<AppRow> {
  const { appId } = call
  const time = timeOf('to', to)
  if (time > LATEST_TEST_CLOCK) {
    throw badUserInput(
      `A test clock cannot be set later than ${new Date(LATEST_TEST_CLOCK).toISOString()}`,
      'to',
    )
  }
  return mutate(call, async (tx) => {
    const app = await requireApp(tx, appId)
    if (app.testClock === null) {
      throw badUserInput(`The app ${quote(appId)} has no test clock. Create an app with testClock: true.`)
    }
    if (time < app.testClock) {
      throw badUserInput(
        `A test clock can only move forward; its time is ${new Date(app.testClock).toISOString()}`,
        'to',
      )
    }
    await setTestClock(tx, appId, new Date(time).toISOString())
    // Renewals and cancellations in the sandbox that are due by then.
    await addJob(tx, 'turn-sandbox', { appId }, `turn:${appId}`)
    await addJob(tx, 'start-recharges', {}, 'start-recharges')
    await addJob(tx, 'publish-scheduled', {}, 'publish-scheduled')
    return requireApp(tx, appId)
  })
}

export async function requireApp(db: HomeDb, id: string): Promise<AppRow> {
  const app = isIdentifier(id) ? await findApp(db, id) : null
  if (!app) throw appNotFound(id)
  return app
}

/** Sets the origins whose pages may use the client API with a user's token. */
export async function setOrigins(call: Call, origins: readonly string[]): Promise<AppRow> {
  const { appId } = call
  if (origins.length > MAX_ORIGINS)
    throw badUserInput(`origins must contain at most ${MAX_ORIGINS} origins`, 'origins')
  for (const origin of origins) {
    if (!/^https?:\/\//.test(origin) || parseUrl(origin)?.origin !== origin) {
      throw badUserInput(
        `${quote(origin)} is not a valid origin. Use the form https://app.example.com.`,
        'origins',
      )
    }
  }
  return mutate(call, async (tx) => {
    await storeOrigins(tx, appId, origins)
    await bumpVersion(tx, appId)
    return requireApp(tx, appId)
  })
}
