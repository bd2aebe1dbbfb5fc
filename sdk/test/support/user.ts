import { TollgateClient, type TollgateClientOptions } from '../../src/browser.ts'
import type { SdkApp } from './app.ts'

/** A token of this user, as the application's backend would hand it out. */
export async function tokenOf(app: SdkApp, userId = 'ann'): Promise<string> {
  const { data, error } = await app.tollgate().generateUserToken({ userId })
  if (error) throw error
  return data.token
}

/** What a page of `ann`'s has, with the requests it sent. */
export function pageClient(app: SdkApp, baseUrl: string, options: Partial<TollgateClientOptions> = {}) {
  const sent: { query: string; variables: unknown; token: string | null }[] = []
  const { fetch: send = fetch } = options
  const client = new TollgateClient({
    baseUrl,
    token: () => tokenOf(app),
    refreshEvery: 0,
    ...options,
    fetch(input, init) {
      const { query, variables } = JSON.parse(String(init?.body))
      const token = new Headers(init?.headers).get('Authorization')
      sent.push({ query: /query (\w+)/.exec(query)?.[1] ?? '', variables: JSON.parse(variables), token })
      return send(input, init)
    },
  })
  return { client, sent }
}
