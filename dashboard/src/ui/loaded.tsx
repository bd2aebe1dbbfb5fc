import { Button, Stack } from '@mantine/core'
import type { UseQueryResult } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { isNotFound, isUnanswered, messageOf } from '../api/api-error.ts'
import { Note } from './note.tsx'
import { SkeletonLines, SkeletonTable } from './skeletons.tsx'
import { useServerBack } from './use-server-back.ts'

interface LoadedProps<Result> {
  of: UseQueryResult<Result>
  children: (result: Result) => ReactNode
  /** whether the page is about this, and says so instead of everything else if it does not exist */
  whole?: boolean
  /** the placeholder until then, in the shape of what comes: a table, unless this says otherwise */
  skeleton?: ReactNode
}

/** Loaded data: a skeleton while loading, the error if that fails. */
export function Loaded<Result>({ of, children, whole, skeleton }: LoadedProps<Result>) {
  if (of.data !== undefined) return children(of.data)
  if (whole && isNotFound(of.error)) throw of.error
  if (of.error) return <Failed error={of.error} retry={() => void of.refetch()} />
  return <Loading>{skeleton ?? <SkeletonTable />}</Loading>
}

/** A placeholder, which tells readers of the screen that more is to come. */
export function Loading({ children = <SkeletonLines /> }: { children?: ReactNode }) {
  return (
    <div role="status" aria-label="Loading">
      {children}
    </div>
  )
}

/** Without an answer, it is loaded again by itself once the service is back. */
export function Failed({ error, retry }: { error: Error; retry: () => void }) {
  const isAway = isUnanswered(error)
  useServerBack(isAway, retry)
  return (
    <Note tone="bad" title="This could not be loaded" role="alert">
      <Stack align="flex-start" gap="sm">
        {messageOf(error)}
        {isAway && ' This page retries by itself.'}
        <Button variant="default" onClick={retry}>
          Try again
        </Button>
      </Stack>
    </Note>
  )
}
