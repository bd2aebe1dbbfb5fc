import { Client, signedIn } from '../harness/client.ts'
import { App, newId, OwnApp } from './app.ts'

/** The service under audit, and how to get in. */
export interface Target {
  url: string
  key: string
  owner: { email: string; password: string } | null
}

/** What every audit gets. */
export interface Context {
  url: string
  key: string
  /** the Admin API without a key */
  visitor: Client
  /** the Admin API with the given key */
  admin: Client
  /** the app of the given key */
  app: App
}

/** What an audit gets that also needs an owner. */
export interface OwnerContext extends Context {
  owner: { email: string; password: string }
  dashboard: Client
  /** an app made for this run, for all who only need ids of their own in it */
  own: OwnApp
  /** An app made for one audit: with lists to itself, or a clock to move. */
  freshApp(options?: { testClock?: boolean }): Promise<OwnApp>
}

export interface Contexts {
  withKey: Context
  /** null: no owner was given */
  withOwner: OwnerContext | null
}

/** Throws when nothing answers at the URL, or the owner cannot sign in. */
export async function connect({ url, key, owner }: Target): Promise<Contexts> {
  const visitor = new Client(`${url}/graphql`, {})
  await visitor.post('').catch((error: Error & { cause?: Error }) => {
    throw new Error(`${url} does not answer: ${error.cause?.message ?? error.message}`)
  })
  const admin = adminClient(url, key)
  const withKey: Context = { url, key, visitor, admin, app: new App(admin) }
  if (!owner) return { withKey, withOwner: null }

  const dashboard = await signedIn(url, owner)
  const freshApp = async (options: { testClock?: boolean } = {}) => {
    const id = newId('app')
    const { createApiKey } = await dashboard.data(
      `mutation ($id: String!, $testClock: Boolean) {
        createApp(id: $id, name: "Audit", testClock: $testClock) { id }
        createApiKey(appId: $id, name: "Audit") { secret }
      }`,
      { id, testClock: options.testClock ?? false },
    )
    return new OwnApp(id, adminClient(url, createApiKey.secret), dashboard)
  }
  const own = await freshApp()
  return { withKey, withOwner: { ...withKey, owner, dashboard, own, freshApp } }
}

export const adminClient = (url: string, key: string): Client =>
  new Client(`${url}/graphql`, { Authorization: key })
