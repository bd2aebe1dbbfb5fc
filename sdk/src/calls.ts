import { DOCUMENTS, isMutation, type Operation } from './documents.ts'
import type { MutationOptions } from './options.ts'
import type { Request, Transport } from './transport.ts'
import type { Result } from './types.ts'

/** The operations by their names, over a transport. */
export class Calls {
  readonly #transport: Transport

  constructor(transport: Transport) {
    this.#transport = transport
  }

  /** A mutation carries a key, its own or a new one. */
  call<Data>(operation: Operation, variables: object, options: MutationOptions = {}): Promise<Result<Data>> {
    const { signal, idempotencyKey = newKey() } = options
    return this.send(operation, variables, isMutation(operation) ? { signal, idempotencyKey } : { signal })
  }

  async send<Data>(
    operation: Operation,
    variables: object,
    request: Pick<Request, 'signal' | 'idempotencyKey' | 'inBackground'>,
  ): Promise<Result<Data>> {
    const { data, error } = await this.#transport.send({ ...request, query: DOCUMENTS[operation], variables })
    return error ? { data: null, error } : { data: data?.[operation] as Data, error }
  }
}

export const newKey = (): string => crypto.randomUUID()

export const listOf = <Data>({ data, error }: Result<Data>): Result<Data[]> =>
  error ? { data: null, error } : { data: [data], error }

export const oneOf = <Data>({ data, error }: Result<Data[]>): Result<Data> =>
  error ? { data: null, error } : { data: data[0] as Data, error }
