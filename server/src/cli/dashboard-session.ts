import { isIP } from 'node:net'
import { StartError } from '../domain/errors.ts'
import type { Context } from './context.ts'
import { askGraphql, type ServiceAnswer, send, serviceUrl } from './service-request.ts'

/** Signing out must not delay the end of a command. */
const SIGN_OUT_MS = 3_000
const PATH = '/dashboard/graphql'

/** The session of a signed-in member. It exists only in the memory of this process, and ends with the command. */
export interface DashboardSession {
  ask<T>(document: string, variables?: Record<string, unknown>): Promise<T>
  /** Uploads a file. */
  upload(path: string, body: ReadableStream<Uint8Array>, ms: number): Promise<ServiceAnswer>
  url: string
}

/**
 * Signs in as a member of the dashboard, so that roles are checked and the audit log names the person.
 */
export async function withSession<T>(
  context: Context,
  options: { url?: string | undefined },
  use: (session: DashboardSession) => Promise<T>,
): Promise<T> {
  const url = serviceUrl(context, options.url)
  const variables = await credentials(context, url)
  const { data, headers: received } = await askGraphql<{ signIn: { email: string } | null }>(
    context,
    { url, path: PATH },
    'mutation ($email: String!, $password: String!) { signIn(email: $email, password: $password) { email } }',
    variables,
  )
  const cookie = cookiesOf(received)
  if (!data.signIn || cookie === '') throw new StartError(`Signing in at ${url} did not start a session.`)
  const headers = { Cookie: cookie }
  try {
    return await use({
      url,
      ask: async (document, given = {}) =>
        (await askGraphql<never>(context, { url, path: PATH, headers }, document, given)).data,
      upload: (path, body, ms) =>
        send(context, { url, path, headers: { ...headers, 'Content-Type': 'text/csv' }, body, ms }),
    })
  } finally {
    await signOut(context, url, cookie)
  }
}

/** Also after Ctrl-C. A session that stays behind expires by itself. */
async function signOut(context: Context, url: string, cookie: string): Promise<void> {
  const body = JSON.stringify({ query: 'mutation { signOut }' })
  const headers = { Cookie: cookie, 'Content-Type': 'application/json' }
  const stopping = new AbortController().signal
  await send({ ...context, stopping }, { url, path: PATH, headers, body, ms: SIGN_OUT_MS }).catch(
    (error: Error) => context.terminal.say(`The session was not ended: ${error.message}`),
  )
}

async function credentials(context: Context, url: string): Promise<{ email: string; password: string }> {
  const { env, questions, terminal } = context
  const [email, password] = [env.TOLLGATE_EMAIL?.trim(), env.TOLLGATE_PASSWORD]
  if ((!email || !password) && questions === null)
    throw new StartError(
      'This command signs in to the dashboard. Set TOLLGATE_EMAIL and TOLLGATE_PASSWORD, or run it in a terminal.',
    )
  if (!isEncryptedOrLocal(url))
    terminal.say(`Warning: ${url} is not encrypted; the password can be read on the way.`)
  return {
    email: email || ((await questions?.ask('Email: ')) ?? ''),
    password: password || ((await questions?.askSecret('Password: ')) ?? ''),
  }
}

function isEncryptedOrLocal(url: string): boolean {
  const { protocol, hostname } = new URL(url)
  const address = hostname.replace(/^\[|\]$/g, '')
  const isLoopback = address === '::1' || (isIP(address) === 4 && address.startsWith('127.'))
  return protocol === 'https:' || isLoopback || /^(.+\.)?localhost$/.test(hostname)
}

/** The cookies that an answer sets, as the header of the next request. */
const cookiesOf = (headers: Headers): string =>
  headers
    .getSetCookie()
    .map((cookie) => cookie.split(';', 1)[0] ?? '')
    .join('; ')
