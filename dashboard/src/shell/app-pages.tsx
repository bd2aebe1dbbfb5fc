import { Outlet, useParams } from '@tanstack/react-router'
import { useEffect, useState } from 'react'
import { ACCOUNT, thatExist } from '../api/session.ts'
import { useAsk } from '../api/use-api.ts'
import { NotFound } from '../ui/not-found.tsx'
import { PageLoading } from './page-loading.tsx'

/** The pages of an app, or that there is no such app. */
export function AppPages() {
  const { app } = useParams({ from: '/inside/apps/$app' })
  const { data, refetch } = useAsk(ACCOUNT, {})
  const unknown = data !== undefined && !thatExist(data.apps).some(({ id }) => id === app)
  // A list from before the app was created does not count.
  const [askedFor, setAskedFor] = useState<string | null>(null)
  useEffect(() => {
    if (unknown && askedFor !== app) void refetch().then(() => setAskedFor(app))
  }, [unknown, app, askedFor, refetch])
  if (!unknown) return <Outlet />
  return askedFor === app ? <NotFound data={`There is no app “${app}”.`} /> : <PageLoading />
}
