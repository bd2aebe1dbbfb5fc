import type { QueryClient } from '@tanstack/react-query'
import { graphql, type ResultOf } from './graphql.ts'
import { request } from './request.ts'
import { keyOf } from './use-api.ts'

const SESSION = graphql(`
  query Session {
    me { id email role }
  }
`)

const ACCOUNT = graphql(`
  query Account {
    permissions
    apps { id name now testClock origins createdAt sampleLoaded archivedAt deletion { since rows } }
  }
`)

export type Me = NonNullable<ResultOf<typeof SESSION>['me']>
export type App = ResultOf<typeof ACCOUNT>['apps'][number]
export type Role = Me['role']

/** The signed-in member, from the cache if already known. */
export async function whoIsThere(client: QueryClient): Promise<Me | null> {
  const { me } = await client.ensureQueryData({ ...SESSION_QUERY, revalidateIfStale: false })
  return me
}

/** The same, asked anew. */
export async function whoIsThereNow(client: QueryClient): Promise<Me | null> {
  return (await client.fetchQuery({ ...SESSION_QUERY, staleTime: 0 })).me
}

const SESSION_QUERY = { queryKey: keyOf(SESSION, {}), queryFn: () => request(SESSION, {}) }

/** Those that can be opened: one that is being deleted cannot. */
export const thatExist = (apps: readonly App[]): App[] => apps.filter(({ deletion }) => deletion === null)

export async function appsOf(client: QueryClient): Promise<App[]> {
  const { apps } = await client.ensureQueryData({
    queryKey: keyOf(ACCOUNT, {}),
    queryFn: () => request(ACCOUNT, {}),
  })
  return thatExist(apps)
}

/** Clears the cache: someone else may be using this browser now. */
export const forgetSession = (client: QueryClient) => client.clear()

export { ACCOUNT, SESSION }
