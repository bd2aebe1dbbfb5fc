import type { Data } from './client.ts'
import { OWNER, type TestServer } from './server.ts'

/** The cookie of a session that signs in anew. */
export async function sessionCookie({ url }: Pick<TestServer, 'url'>, member = OWNER): Promise<string> {
  const response = await fetch(`${url}/dashboard/graphql`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({
      query:
        'mutation ($email: String!, $password: String!) { signIn(email: $email, password: $password) { id } }',
      variables: member,
    }),
  })
  const [cookie] = (response.headers.get('set-cookie') ?? '').split(';')
  if (!cookie) throw new Error(`sign-in failed: ${await response.text()}`)
  return cookie
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
