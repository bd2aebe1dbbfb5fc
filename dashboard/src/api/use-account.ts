import { useQueryClient } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import type { ResultOf } from './graphql.ts'
import { ACCOUNT, type App, type Me, SESSION, thatExist } from './session.ts'
import { keyOf, useAsk } from './use-api.ts'

/** The apps; empty while loading. */
export function useApps(): App[] {
  return thatExist(useAsk(ACCOUNT, {}).data?.apps ?? [])
}

export function useMe(): Me | null {
  const client = useQueryClient()
  return client.getQueryData<ResultOf<typeof SESSION>>(keyOf(SESSION, {}))?.me ?? null
}

/** Whether the signed-in member's role allows an operation. The server decides in any case. */
export function useMay(): (mutation: string) => boolean {
  const permissions = useAsk(ACCOUNT, {}).data?.permissions
  return (mutation) => permissions?.includes(mutation) ?? false
}

/** The id of the current app. */
export function useAppId(): string {
  const { app } = useParams({ strict: false })
  if (app === undefined) throw new Error('this page belongs to an app')
  return app
}

/** The current app; undefined while loading, or if there is none. */
export function useApp(): App | undefined {
  const { app } = useParams({ strict: false })
  return useApps().find(({ id }) => id === app)
}
