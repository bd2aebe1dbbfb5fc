/** The real fetch, which remembers what it was asked. */
export function recordingFetch() {
  const requests: { key: string | null; body: string }[] = []
  const recording: typeof fetch = (input, init) => {
    requests.push({ key: new Headers(init?.headers).get('Idempotency-Key'), body: String(init?.body) })
    return fetch(input, init)
  }
  return { fetch: recording, requests }
}
