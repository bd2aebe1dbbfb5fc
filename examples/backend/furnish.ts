import { setTimeout as pause } from 'node:timers/promises'
import { type Result, Tollgate } from '@tollgate/sdk/node'

/** Nobody else's: somebody who has a plan already cannot get this one too. */
export const USER = 'example-user'
const PACKAGE = 'example'
export const SERVICE = process.env.TOLLGATE_URL ?? 'http://127.0.0.1:4000'
const PAGE_ORIGIN = process.env.PAGE_ORIGIN ?? 'http://127.0.0.1:5173'

export function requireKey(): void {
  if (process.env.TOLLGATE_API_KEY) return
  console.error(
    'Set TOLLGATE_API_KEY to an API key of the app "default", and TOLLGATE_URL if the service is not at http://127.0.0.1:4000. The first start of Tollgate prints both; npm start -- --new-key prints another key.',
  )
  process.exit(1)
}

/** Makes what the example needs, and leaves alone what is there: five summaries a month for one user. */
export async function furnish(): Promise<void> {
  const tollgate = new Tollgate()
  if (!(await found(tollgate.feature({ id: 'summaries' }))))
    await done(
      tollgate.createFeature({
        id: 'summaries',
        name: 'Summaries',
        type: 'CONSUMABLE',
        unitLabel: 'summary',
      }),
    )
  if (!(await found(tollgate.package({ id: PACKAGE }))))
    await done(
      tollgate.createPackage({
        id: PACKAGE,
        name: 'Example',
        features: [{ id: 'summaries', entitlement: { limit: 5, resetPeriod: 'MONTH' } }],
      }),
    )
  if (!(await found(tollgate.user({ id: USER }))))
    await done(tollgate.createUser({ id: USER, name: 'Example' }))
  await publish(tollgate)
  const subscriptions = await done(tollgate.subscriptions({ userId: USER }))
  if (!subscriptions.some((live) => live.status === 'ACTIVE' && live.package.id === PACKAGE))
    await done(tollgate.subscribe({ userId: USER, packageIds: [PACKAGE] }))
}

/** A feature of its own, and 1,000 units of it for the user. */
export async function furnishTokens(): Promise<void> {
  const tollgate = new Tollgate()
  const tokens = { id: 'tokens', name: 'Tokens', type: 'CONSUMABLE', unitLabel: 'token' } as const
  if (!(await found(tollgate.feature({ id: 'tokens' })))) await done(tollgate.createFeature(tokens))
  if (!(await found(tollgate.user({ id: USER }))))
    await done(tollgate.createUser({ id: USER, name: 'Example' }))
  // Adding it again has no effect.
  await done(tollgate.addCredit({ id: 'example-tokens', userId: USER, featureId: 'tokens', amount: 1_000 }))
}

/** Publishing, and allowing a page, are for the dashboard: by its API as the owner, or by hand. */
async function publish(tollgate: Tollgate): Promise<void> {
  const { TOLLGATE_OWNER_EMAIL: email, TOLLGATE_OWNER_PASSWORD: password } = process.env
  if (email && password) return publishAs({ email, password })
  let told = false
  while ((await done(tollgate.package({ id: PACKAGE }))).status !== 'PUBLISHED') {
    if (!told)
      console.log(`Publish the package "${PACKAGE}" at ${SERVICE}, and allow ${PAGE_ORIGIN} there. Waiting…`)
    told = true
    await pause(1_000)
  }
}

async function publishAs(owner: { email: string; password: string }): Promise<void> {
  const signIn = await dashboard(
    'mutation ($email: String!, $password: String!) { signIn(email: $email, password: $password) { email } }',
    owner,
  )
  const cookie = signIn.headers.get('set-cookie')?.split(';')[0] ?? ''
  await dashboard(
    `mutation ($id: String!, $origins: [String!]!) {
      publishPackage(appId: "default", id: $id) { status }
      setOrigins(appId: "default", origins: $origins) { id }
    }`,
    { id: PACKAGE, origins: [PAGE_ORIGIN] },
    cookie,
  )
}

async function dashboard(query: string, variables: object, cookie = ''): Promise<Response> {
  const reply = await fetch(`${SERVICE}/dashboard/graphql`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', Cookie: cookie },
    body: JSON.stringify({ query, variables }),
  })
  const { errors } = (await reply.json()) as { errors?: { message: string }[] }
  if (errors?.[0]) throw new Error(errors[0].message)
  return reply
}

async function done<Data>(answer: Promise<Result<Data>>): Promise<Data> {
  const { data, error } = await answer
  if (error) throw error
  return data
}

async function found(answer: Promise<Result<unknown>>): Promise<boolean> {
  const { error } = await answer
  if (error && error.response.status !== 404) throw error
  return !error
}
