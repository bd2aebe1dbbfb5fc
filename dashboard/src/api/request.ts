import type { TadaDocumentNode } from 'gql.tada'
import { answerInTime, patienceFor } from './answer-in-time.ts'
import { ApiError } from './api-error.ts'

/** Calls the dashboard's API. Throws an ApiError for any failure, including an answer that does not come in time. */
export function request<Result, Variables>(
  document: TadaDocumentNode<Result, Variables>,
  variables: Variables,
  patienceMs = patienceFor(document),
): Promise<Result> {
  return answerInTime(document, patienceMs, (signal) => ask(document, variables, signal))
}

async function ask<Result, Variables>(
  document: TadaDocumentNode<Result, Variables>,
  variables: Variables,
  signal: AbortSignal,
): Promise<Result> {
  let response: Response
  try {
    response = await fetch('/dashboard/graphql', {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ query: document, variables }),
      signal,
    })
  } catch {
    throw new ApiError('UNREACHABLE', 'Tollgate is not responding. Check that it is running and try again.')
  }
  const answer = (await response.json().catch(() => null)) as Answer<Result> | null
  const [error] = answer?.errors ?? []
  if (error) {
    const { code = 'UNKNOWN', field } = error.extensions ?? {}
    throw new ApiError(code, error.message, field)
  }
  if (!answer?.data)
    throw new ApiError('UNREACHABLE', `The response could not be read (HTTP ${response.status}).`)
  return answer.data
}

interface Answer<Result> {
  data?: Result
  errors?: { message: string; extensions?: { code?: string; field?: string } }[]
}
