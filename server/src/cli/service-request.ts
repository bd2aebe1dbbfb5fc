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

/** An answer that has arrived in full. */
export interface ServiceAnswer {
  status: number
  headers: Headers
  text: string
}

/** Sends a request. Rejects with one line that says what to do if there is no answer. */
export async function send(context: Context, request: Request): Promise<ServiceAnswer> {
  const { url, path, method = 'POST', headers = {}, body = null, ms = REQUEST_MS } = request
  const ended = endOf(context, new StartError(`Tollgate at ${url} did not answer within ${ms / 1000} s.`), ms)
  let response: Response | null = null
  try {
    response = await fetch(`${url}${path}`, {
      method,
      headers: { 'User-Agent': `tollgate-cli/${context.version}`, ...headers },
      body,
      signal: ended,
      redirect: 'error',
      ...(body instanceof ReadableStream && { duplex: 'half' }),
    })
    return { status: response.status, headers: response.headers, text: await textOf(response, ended) }
  } catch (error) {
    ended.throwIfAborted()
    if (response) throw new StartError(`The connection to ${url} was lost before the answer was complete.`)
    throw new StartError(
      `Tollgate is not reachable at ${url} (${reasonOf(error)}). Start it with tollgate start, or set TOLLGATE_URL.`,
    )
  }
}

/** Aborted by Ctrl-C, or with `late` after this time. */
function endOf({ stopping }: Context, late: StartError, ms: number): AbortSignal {
  const ended = new AbortController()
  setTimeout(() => ended.abort(late), ms).unref()
  if (stopping.aborted) ended.abort(stopping.reason)
  else stopping.addEventListener('abort', () => ended.abort(stopping.reason), { once: true })
  return ended.signal
}

/**
 * The body. `fetch` follows its signal only until its request has been collected as garbage, so a body that does not end
 * would be read without a bound.
 */
async function textOf({ body }: Response, ended: AbortSignal): Promise<string> {
  if (!body) return ''
  const reader = body.getReader()
  // A read in progress then resolves as at the end of the body.
  ended.addEventListener('abort', () => void reader.cancel().catch(() => {}), { once: true })
  const decoder = new TextDecoder()
  let text = ''
  for (;;) {
    const { done, value } = await reader.read()
    ended.throwIfAborted()
    if (done) return text + decoder.decode()
    text += decoder.decode(value, { stream: true })
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
): Promise<{ data: T; headers: Headers }> {
  const answered = await send(context, {
    url,
    path,
    headers: { 'Content-Type': 'application/json', ...headers },
    body: JSON.stringify({ query, variables }),
  })
  const { data } = jsonOf(url, answered)
  if (typeof data !== 'object' || data === null) throw notTollgate(url, answered)
  return { data: data as T, headers: answered.headers }
}

/** The JSON body of an answer. An error in it is thrown. */
export function jsonOf(url: string, answered: ServiceAnswer): GraphqlAnswer {
  const answer = parsed(answered.text)
  if (typeof answer !== 'object' || answer === null) throw notTollgate(url, answered)
  const { errors } = answer as GraphqlAnswer
  const [error] = errors ?? []
  if (error) throw new ServiceError(error.extensions?.code ?? 'UNKNOWN', plainText(error.message))
  return answer
}

/** Null: the text is not JSON. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}

const notTollgate = (url: string, { status }: ServiceAnswer) =>
  new StartError(`${url} does not answer like Tollgate (HTTP ${status}). Check TOLLGATE_URL.`)
