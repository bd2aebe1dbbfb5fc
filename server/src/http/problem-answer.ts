import type { ErrorCode } from '../domain/errors.ts'
import { TollgateError } from '../domain/errors.ts'
import { type WireError, wireError } from '../graphql/engine/errors.ts'
import type { RestOperation } from '../rest/operation.ts'
import { PROBLEM_TYPE, problemOf } from '../rest/problem.ts'
import { RefusedBody } from './body.ts'
import type { Exchange } from './exchange.ts'
import { faultReporter, type RequestOutcome, type RequestService } from './request-handler.ts'

interface Answerable {
  exchange: Exchange
  id: string
}

/** Answers requests with errors as problem documents. */
export class ProblemAnswers {
  readonly #service: RequestService

  constructor(service: RequestService) {
    this.#service = service
  }

  fail(request: Answerable, error: unknown): RequestOutcome {
    const exact = error instanceof RefusedBody ? new TollgateError(error.restCode, error.message) : error
    return this.answer(request, this.wired(request, exact, 'BAD_REQUEST'), null)
  }

  /** `code` is the meaning of GraphQL's own errors at this stage. */
  wired({ id }: Answerable, error: unknown, code: ErrorCode): WireError {
    return wireError(error, code, faultReporter(this.#service, id))
  }

  /** The answer to an operation that has failed. Without data, its values were rejected and nothing was executed. */
  failed(
    request: Answerable,
    operation: RestOperation,
    values: Record<string, unknown>,
    error: unknown,
    isRejected: boolean,
  ): RequestOutcome {
    const rejected = isRejected ? operation.rejected(values) : null
    return rejected
      ? this.fail(request, rejected)
      : this.answer(request, this.wired(request, error, 'BAD_USER_INPUT'), operation)
  }

  /** `operation`: the one that the error is from, whose arguments may have other names in REST. */
  answer({ exchange, id }: Answerable, error: WireError, operation: RestOperation | null): RequestOutcome {
    const problem = problemOf(error, id)
    if (operation && problem.field !== undefined) problem.field = operation.nameOf(problem.field)
    if (!exchange.answered) {
      if (problem.retryAfter !== undefined) exchange.setHeader('Retry-After', String(problem.retryAfter))
      if (problem.status === 401) exchange.setHeader('WWW-Authenticate', 'Bearer')
      exchange.answer(problem.status, id, problem, PROBLEM_TYPE)
    }
    return problem.code
  }
}
