import { documentOf } from './documents.ts'

export interface WireError {
  message: string
  locations: { line: number; column: number }[]
  path: string[]
  extensions: { code: string; type: string; status: number; field?: string; retryAfter?: number }
}

/** Tests state what they expect of the data; any other answer fails there. */
// biome-ignore lint/suspicious/noExplicitAny: answers are of any shape
export type Data = Record<string, any>

export interface Answer {
  status: number
  data?: Data | null
  errors?: WireError[]
}

export type Variables = Record<string, unknown>

/** Talks to one GraphQL endpoint as an outsider would: over HTTP. */
export class Client {
  readonly #url: string
  readonly headers: Readonly<Record<string, string>>
  readonly #appId: string | null

  constructor(url: string, headers: Record<string, string>, appId: string | null = null) {
    this.#url = url
    this.headers = headers
    this.#appId = appId
  }

  with(headers: Record<string, string>): Client {
    return new Client(this.#url, { ...this.headers, ...headers }, this.#appId)
  }

  /** The same in the dashboard of this app: `call` then adds `appId` where an operation requires it. */
  of(appId: string): Client {
    return new Client(this.#url, { ...this.headers }, appId)
  }

  post(body: string | Uint8Array<ArrayBuffer>): Promise<Response> {
    return fetch(this.#url, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', ...this.headers },
      body,
    })
  }

  async ask(query: string, variables?: Variables): Promise<Answer> {
    const response = await this.post(JSON.stringify({ query, ...(variables && { variables }) }))
    return { status: response.status, ...((await response.json()) as Omit<Answer, 'status'>) }
  }

  /** The data of an answer without errors. */
  async data(query: string, variables?: Variables): Promise<Data> {
    const answer = await this.ask(query, variables)
    if (answer.errors) throw new Error(`unexpected errors: ${JSON.stringify(answer.errors)} for ${query}`)
    if (!answer.data) throw new Error(`no data for ${query}`)
    return answer.data
  }

  /** The result of one operation: `call('user { name }', { id })`. The selection may be left out. */
  async call(operation: string, args: Variables = {}): Promise<Data[string]> {
    const [field = '', ...selection] = operation.split(/(?= )/)
    const path = new URL(this.#url).pathname
    const { document, variables } = documentOf(path, [field, selection.join('')], args, this.#appId)
    return (await this.data(document, variables))[field]
  }

  /** The one error of an answer that has one. */
  async error(query: string, variables?: Variables): Promise<WireError> {
    const answer = await this.ask(query, variables)
    const [error, ...others] = answer.errors ?? []
    if (!error || others.length > 0) throw new Error(`expected one error: ${JSON.stringify(answer)}`)
    return error
  }
}

/** A visitor of the dashboard who has not signed in. */
export const dashboardClient = (url: string): Client => new Client(`${url}/dashboard/graphql`, {})

/** Signs in to the dashboard and keeps the session's cookie. */
export async function signedIn(url: string, owner: { email: string; password: string }): Promise<Client> {
  const visitor = dashboardClient(url)
  const response = await visitor.post(
    JSON.stringify({
      query:
        'mutation ($email: String!, $password: String!) { signIn(email: $email, password: $password) { email } }',
      variables: owner,
    }),
  )
  const [cookie] = (response.headers.get('set-cookie') ?? '').split(';')
  if (!cookie) throw new Error(`sign-in failed: ${await response.text()}`)
  return visitor.with({ Cookie: cookie })
}
