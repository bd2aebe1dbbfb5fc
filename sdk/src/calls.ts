import { checkArguments, checkOptions } from './arguments.ts'
import type { BackendRequest, BackendTransport } from './backend-transport.ts'
import { DOCUMENTS, isMutation, type Operation } from './documents.ts'
import { TollgateError } from './errors.ts'
import type { MutationOptions } from './options.ts'
import { failed } from './reply.ts'
import type { Result } from './types.ts'

/** The operations by name, over a transport. */
export class Calls {
  readonly #transport: BackendTransport

  constructor(transport: BackendTransport) {
    this.#transport = transport
  }

  /** A mutation carries an idempotency key, given or new. `query` is another document of the operation. */
  async call<Data>(
    operation: Operation,
    args: object,
    options?: MutationOptions,
    query?: string,
  ): Promise<Result<Data>> {
    const refusal = await this.refusal(operation, args, options)
    if (refusal) return refusal
    const { idempotencyKey = newKey(), ...request } = options ?? {}
    return this.send(operation, args, isMutation(operation) ? { ...request, idempotencyKey } : request, query)
  }

  async send<Data>(
    operation: Operation,
    variables: object,
    request: MutationOptions & Pick<BackendRequest, 'inBackground'>,
    query: string = DOCUMENTS[operation],
  ): Promise<Result<Data>> {
    const { data, error } = await this.#transport.request({ ...request, query, variables })
    return error ? { data: null, error } : { data: data?.[operation] as Data, error }
  }

  /** The error of a call with invalid arguments; null if they are valid. */
  refusal(operation: Operation, args: unknown, options: unknown): Promise<Refusal | null> {
    return this.refusalBy(() => {
      checkArguments(operation, args)
      checkOptions(options)
    })
  }

  async refusalBy(check: () => void): Promise<Refusal | null> {
    try {
      check()
      return null
    } catch (thrown) {
      const error = thrown instanceof TollgateError ? thrown : unreadable(thrown)
      await this.#transport.report(error)
      return failed(error)
    }
  }
}

type Refusal = Result<never>

const unreadable = (cause: unknown): TollgateError =>
  new TollgateError(`The arguments cannot be serialized: ${cause}`, {
    code: 'BAD_USER_INPUT',
    status: 400,
    cause,
  })

export const newKey = (): string => crypto.randomUUID()

export const listOf = <Data>({ data, error }: Result<Data>): Result<Data[]> =>
  error ? { data: null, error } : { data: [data], error }

export const oneOf = <Data>({ data, error }: Result<Data[]>): Result<Data> =>
  error ? { data: null, error } : { data: data[0] as Data, error }
