import { Button, Stack } from '@mantine/core'
import type { UseQueryResult } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { isNotFound, messageOf } from '../api/api-error.ts'
import { Note } from './note.tsx'
import { SkeletonLines, SkeletonTable } from './skeletons.tsx'

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

export function Failed({ error, retry }: { error: Error; retry: () => void }) {
  return (
    <Note tone="bad" title="This could not be loaded" role="alert">
      <Stack align="flex-start" gap="sm">
        {messageOf(error)}
        <Button variant="default" onClick={retry}>
          Try again
        </Button>
      </Stack>
    </Note>
  )
}
