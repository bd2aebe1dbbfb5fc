import { StartError } from '../domain/errors.ts'
import { parseUrl } from '../domain/url.ts'
import { plainText } from '../terminal/plain-text.ts'
import type { Context } from './context.ts'

/** Longer than the service takes for any answer. */
const REQUEST_MS = 30_000

const DEFAULT_URL = 'http://127.0.0.1:4000'

/** An error that the service answered. */
class ServiceError extends StartError {
  readonly code: string
  constructor(code: string, message: string) {
    super(message)
    this.code = code
  }
}

/** The base URL of the service. */
export function serviceUrl({ env }: Context, option: string | undefined): string {
  const [text, source] =
    option === undefined ? [env.TOLLGATE_URL?.trim() || DEFAULT_URL, 'TOLLGATE_URL'] : [option, '--url']
  if (!/^https?:\/\//.test(text) || !parseUrl(text))
    throw new StartError(`${source} must be an http or https URL, such as ${DEFAULT_URL}.`)
  return text.replace(/\/+$/, '')
}

interface Request {
  url: string
  path: string
  method?: 'GET' | 'POST'
  headers?: Record<string, string>
  body?: RequestInit['body']
  ms?: number
}

/** Sends a request. Rejects with one line that says what to do if there is no answer. */
export async function send(context: Context, request: Request): Promise<Response> {
  const { url, path, method = 'POST', headers = {}, body = null, ms = REQUEST_MS } = request
  const tooLong = AbortSignal.timeout(ms)
  try {
    return await fetch(`${url}${path}`, {
      method,
      headers: { 'User-Agent': `tollgate-cli/${context.version}`, ...headers },
      body,
      signal: AbortSignal.any([tooLong, context.stopping]),
      redirect: 'error',
      ...(body instanceof ReadableStream && { duplex: 'half' }),
    })
  } catch (error) {
    context.stopping.throwIfAborted()
    if (tooLong.aborted) throw new StartError(`Tollgate at ${url} did not answer within ${ms / 1000} s.`)
    throw new StartError(
      `Tollgate is not reachable at ${url} (${reasonOf(error)}). Start it with tollgate start, or set TOLLGATE_URL.`,
    )
  }
}

/** `fetch` hides the reason: several addresses that refuse are an error without a message. */
function reasonOf(error: unknown): string {
  const { cause, message } = error as Error
  const inner = cause instanceof AggregateError ? cause.errors[0] : cause
  const { code, message: detail } = (inner ?? {}) as NodeJS.ErrnoException
  return plainText(code ?? detail ?? message)
}

interface GraphqlAnswer {
  data?: unknown
  errors?: { message: string; extensions?: { code?: string } }[]
}

/** Executes a GraphQL document. */
export async function askGraphql<T>(
  context: Context,
  { url, path, headers = {} }: Pick<Request, 'url' | 'path' | 'headers'>,
  query: string,
  variables: Record<string, unknown>,
): Promise<{ data: T; response: Response }> {
  const response = await send(context, {
    url,
    path,
    headers: { 'Content-Type': 'application/json', ...headers },
    body: JSON.stringify({ query, variables }),
  })
  const answer = await jsonOf(url, response)
  return { data: answer.data as T, response }
}

/** The JSON body of an answer. An error in it is thrown. */
export async function jsonOf(url: string, response: Response): Promise<GraphqlAnswer> {
  const answer = (await response.json().catch(() => null)) as GraphqlAnswer | null
  if (typeof answer !== 'object' || answer === null)
    throw new StartError(
      `${url} does not answer like Tollgate (HTTP ${response.status}). Check TOLLGATE_URL.`,
    )
  const [error] = answer.errors ?? []
  if (error) throw new ServiceError(error.extensions?.code ?? 'UNKNOWN', plainText(error.message))
  return answer
}
