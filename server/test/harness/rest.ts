import type { OperationName, RestOperation } from '../../src/rest/operation.ts'
import { restOperations } from '../../src/rest/operations.ts'
import type { Data, Variables } from './client.ts'

export interface RestAnswer {
  status: number
  headers: Headers
  /** of any shape: tests state what they expect */
  body: Data | null
  text: string
}

export interface RestRequest {
  method: string
  /** from /v1, with the query string */
  path: string
  body?: unknown
}

/** Talks to the REST API as an outsider would: over HTTP. */
export class RestClient {
  readonly #url: string
  readonly headers: Readonly<Record<string, string>>

  constructor(url: string, headers: Record<string, string>) {
    this.#url = url
    this.headers = headers
  }

  with(headers: Record<string, string>): RestClient {
    return new RestClient(this.#url, { ...this.headers, ...headers })
  }

  async send({ method, path, body }: RestRequest): Promise<RestAnswer> {
    const json = body === undefined ? {} : { body: JSON.stringify(body), type: 'application/json' }
    return this.raw(method, path, json)
  }

  /** Any body, with any Content-Type or none. */
  async raw(
    method: string,
    path: string,
    { body, type }: { body?: string | Uint8Array<ArrayBuffer>; type?: string } = {},
  ): Promise<RestAnswer> {
    const headers = { ...(type !== undefined && { 'Content-Type': type }), ...this.headers }
    const response = await fetch(`${this.#url}${path}`, {
      method,
      headers,
      ...(body !== undefined && { body }),
    })
    const text = await response.text()
    return {
      status: response.status,
      headers: response.headers,
      text,
      body: text === '' ? null : JSON.parse(text),
    }
  }

  get = (path: string): Promise<RestAnswer> => this.send({ method: 'GET', path })
  post = (path: string, body: unknown): Promise<RestAnswer> => this.send({ method: 'POST', path, body })
  put = (path: string, body: unknown): Promise<RestAnswer> => this.send({ method: 'PUT', path, body })
  patch = (path: string, body: unknown): Promise<RestAnswer> => this.send({ method: 'PATCH', path, body })
  delete = (path: string): Promise<RestAnswer> => this.send({ method: 'DELETE', path })
}

export const restClient = (url: string, key: string): RestClient =>
  new RestClient(url, { Authorization: key })

export function operationNamed(name: OperationName): RestOperation {
  const found = restOperations().find((operation) => operation.name === name)
  if (!found) throw new Error(`${name} has no route`)
  return found
}

/** The request that means the same as this operation with these GraphQL variables. */
export function restRequest(operation: RestOperation, variables: Variables): RestRequest {
  const { route, inPath, hasBody, input } = operation
  const flat = { ...variables }
  for (const name of route.without ?? []) delete flat[name]
  const given = input ? { ...(flat[input.arg.name] as Variables) } : flat
  let path: string = route.path
  for (const name of inPath) {
    const inner = route.names?.[name] ?? name
    const from = inner in flat ? flat : given
    path = path.replace(`{${name}}`, encodeURIComponent(String(from[inner])))
    delete from[inner]
  }
  const named = Object.entries(given).map(([inner, value]) => [operation.nameOf(inner), value] as const)
  if (hasBody) return { method: route.method, path, body: Object.fromEntries(named) }
  const query = new URLSearchParams(
    named.map(([name, value]): [string, string] => [name, String(value)]),
  ).toString()
  return { method: route.method, path: query === '' ? path : `${path}?${query}` }
}
