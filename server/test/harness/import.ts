import type { TestApp } from './catalogue.ts'
import { type Data, signedIn } from './client.ts'
import { createApp, OWNER, startTestServer, type TestServer } from './server.ts'

/** The cookie of a session that signs in anew. */
export async function sessionCookie({ url }: Pick<TestServer, 'url'>, member = OWNER): Promise<string> {
  return (await signedIn(url, member)).headers.Cookie ?? ''
}

let apps = 0

/** Of the users of each `newApp`: address and billing id. */
export const USERS_BEFORE = {
  ann: ['ann@old.example', 'cus_ann'],
  bob: ['bob@old.example', null],
  carl: [null, null],
}

/** A new app with three users whose addresses and billing ids can be changed. */
async function appWithUsers(server: TestServer): Promise<TestApp> {
  const id = `import-${++apps}`
  const admin = await createApp(server, id)
  await admin.data(`mutation {
    ann: createUser(input: { id: "ann", email: "ann@old.example", billingId: "cus_ann" }) { id }
    bob: createUser(input: { id: "bob", email: "bob@old.example" }) { id }
    carl: createUser(input: { id: "carl" }) { id }
  }`)
  return { id, admin, dashboard: server.dashboard.of(id) }
}

/** Address and billing id of each user. */
export async function usersOf({ admin }: TestApp): Promise<Record<string, (string | null)[]>> {
  const { users } = await admin.data('{ users { id email billingId } }')
  return Object.fromEntries(users.map((user: Data) => [user.id, [user.email, user.billingId]]))
}

export type ImportBody = string | Uint8Array<ArrayBuffer> | ReadableStream

/** Uploads a file of users; the answer with its status. */
export async function upload(
  { url }: Pick<TestServer, 'url'>,
  cookie: string,
  query: Record<string, string>,
  body: ImportBody,
): Promise<Data> {
  const response = await fetch(`${url}/dashboard/import/users?${new URLSearchParams(query)}`, {
    method: 'POST',
    headers: { Cookie: cookie, 'Content-Type': 'text/csv' },
    body,
    ...(body instanceof ReadableStream && { duplex: 'half' }),
  })
  return { status: response.status, ...((await response.json()) as Data) }
}

export interface Importing {
  server: TestServer
  /** of the owner's session */
  cookie: string
  newApp(): Promise<TestApp>
  send(app: TestApp, body: ImportBody, query?: Record<string, string>): Promise<Data>
}

/** A server, and an owner who uploads files to it. */
export async function startImporting(): Promise<Importing> {
  const server = await startTestServer()
  const cookie = await sessionCookie(server)
  return {
    server,
    cookie,
    newApp: () => appWithUsers(server),
    send: (app, body, query = {}) => upload(server, cookie, { app: app.id, ...query }, body),
  }
}
