import {
  keepPreviousData,
  MutationCache,
  QueryCache,
  QueryClient,
  type UseMutationResult,
  type UseQueryResult,
  useMutation,
  useQuery,
  useQueryClient,
} from '@tanstack/react-query'
import { type NavigateOptions, useRouter } from '@tanstack/react-router'
import type { TadaDocumentNode } from 'gql.tada'
import { useEffect, useRef } from 'react'
import { notify, notifyFailed } from '../ui/notify.tsx'
import { ApiError, isSignedOut, messageOf } from './api-error.ts'
import { request } from './request.ts'

/** One cache of answers, by document and variables. */
export function newQueryClient(onSignedOut: (retry: (() => void) | null) => void): QueryClient {
  return new QueryClient({
    queryCache: new QueryCache({ onError: (error) => isSignedOut(error) && onSignedOut(null) }),
    mutationCache: new MutationCache({
      onError(error, variables, _, mutation) {
        // Its own failure is shown where it was made.
        const again = () => void mutation.execute(variables).catch(() => {})
        if (isSignedOut(error)) onSignedOut(mutation.meta?.signsIn ? null : again)
      },
    }),
    defaultOptions: {
      // The service may run on this machine: whether the browser believes that it is online says nothing about that.
      mutations: { networkMode: 'always' },
      queries: {
        networkMode: 'always',
        staleTime: 5_000,
        retry: (times, error) => times < 2 && error instanceof ApiError && error.code === 'UNREACHABLE',
      },
    },
  })
}

export const keyOf = (document: unknown, variables: unknown) => [document, variables]

interface AskOptions {
  enabled?: boolean
  /** Keeps showing the last answer until the next one arrives, for lists filtered by typing. */
  keepPrevious?: boolean
  refetchInterval?: number | false
  /** how long an answer may take, where that is longer than usual */
  patienceMs?: number
}

export function useAsk<Result, Variables>(
  document: TadaDocumentNode<Result, Variables>,
  variables: Variables,
  { keepPrevious, patienceMs, ...options }: AskOptions = {},
): UseQueryResult<Result> {
  return useQuery<Result>({
    queryKey: keyOf(document, variables),
    queryFn: () => request(document, variables, patienceMs),
    ...(keepPrevious && { placeholderData: keepPreviousData }),
    ...options,
  })
}

interface NextPage {
  label: string
  to: NavigateOptions
}

interface ChangeOptions<Result, Variables> {
  /** shown once it is done */
  said?: string | ((result: Result, variables: Variables) => string)
  /** a link to the next page, shown in the notification; undefined: none */
  next?: NextPage | ((result: Result, variables: Variables) => NextPage | undefined)
  /** follows on the page where the change was made; not if that page has been left meanwhile */
  done?: (result: Result) => unknown
  /** follows on any page */
  after?: (result: Result) => unknown
  /** What takes it back, offered beside what is said; undefined: nothing does. */
  undo?: (result: Result, variables: Variables) => (() => void) | undefined
  /** how long it may take, where that is longer than usual */
  patienceMs?: number
  /** it starts a session, so there is nothing to repeat in a new one */
  signsIn?: true
}

/** A mutation, after which everything on the screen is reloaded. */
export function useChange<Result, Variables>(
  document: TadaDocumentNode<Result, Variables>,
  { said, next, done, after, undo, patienceMs, signsIn }: ChangeOptions<Result, Variables> = {},
): UseMutationResult<Result, Error, Variables, Whereabouts> {
  const client = useQueryClient()
  const router = useRouter()
  const onMutate = useWhereabouts()
  return useMutation<Result, Error, Variables, Whereabouts>({
    mutationFn: (variables) => request(document, variables, patienceMs),
    ...(signsIn && { meta: { signsIn } }),
    onMutate,
    async onSuccess(result, variables, { samePage }) {
      await after?.(result)
      if (samePage()) await done?.(result)
      void client.invalidateQueries()
      if (said !== undefined) {
        const takeBack = undo?.(result, variables)
        const onward = typeof next === 'function' ? next(result, variables) : next
        notify(typeof said === 'function' ? said(result, variables) : said, [
          ...(onward ? [{ label: onward.label, onClick: () => void router.navigate(onward.to) }] : []),
          ...(takeBack ? [{ label: 'Undo', onClick: takeBack }] : []),
        ])
      }
    },
    onError(error, _, whereabouts) {
      if (whereabouts?.unseen() && !isSignedOut(error)) notifyFailed(messageOf(error))
    },
  })
}

/** Where the reader is, since a change was begun. */
export interface Whereabouts {
  /** on the page where it was begun */
  samePage: () => boolean
  /** where what became of it is not shown */
  unseen: () => boolean
}

/** For `onMutate`: a change that takes long must not lead somebody back who has gone on, nor fail in silence. */
export function useWhereabouts(): () => Whereabouts {
  const router = useRouter()
  const mounted = useRef(false)
  useEffect(() => {
    mounted.current = true
    return () => {
      mounted.current = false
    }
  }, [])
  return () => {
    const { pathname } = router.latestLocation
    const samePage = () => router.latestLocation.pathname === pathname
    return { samePage, unseen: () => !mounted.current || !samePage() }
  }
}
