import { NetworkError } from './errors.ts'
import type { Reply } from './reply.ts'
import { within } from './within.ts'

export interface Limits {
  timeout: number
  /** Rejects when the caller aborts the call. */
  givenUp: Promise<never>
}

/**
 * Sends one request and reads the reply to its end. Rejects as soon as the time is up or the call aborted, whatever
 * `fetch` does: in Node 20 and 22 a reply that stalls after its headers can outlive the abort of its request.
 */
export async function exchange(
  fetch: typeof globalThis.fetch,
  url: string,
  init: RequestInit,
  { timeout, givenUp }: Limits,
): Promise<Reply> {
  const ending = new AbortController()
  const { signal } = ending
  const reply = fetch(url, { ...init, signal }).then((response) => read(response, signal))
  const tooLate = () =>
    Promise.reject(
      new NetworkError(`No response from ${url} within ${timeout} ms`, { code: 'TIMEOUT', status: 0 }),
    )
  try {
    return await within(timeout, Promise.race([reply, givenUp]), tooLate)
  } catch (error) {
    ending.abort()
    throw error
  }
}

/** Reads the body itself, so that an abandoned reply can be released with its connection. */
async function read(response: Response, signal: AbortSignal): Promise<Reply> {
  const { status, headers } = response
  const reader = response.body?.getReader()
  if (!reader) return { status, headers, text: await response.text() }
  const letGo = () => void reader.cancel().catch(() => {})
  signal.addEventListener('abort', letGo)
  if (signal.aborted) letGo()
  const decoder = new TextDecoder()
  let text = ''
  for (;;) {
    const { done, value } = await reader.read()
    text += decoder.decode(value, { stream: !done })
    if (done) return { status, headers, text }
  }
}
