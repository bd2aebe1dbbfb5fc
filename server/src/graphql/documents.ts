import {
  type DocumentNode,
  GraphQLError,
  type GraphQLSchema,
  parse,
  specifiedRules,
  VariablesInAllowedPositionRule,
  validate,
} from 'graphql'
import { TollgateError } from '../domain/errors.ts'
import { MAX_DOCUMENT_BYTES, MAX_TOKENS } from '../domain/limits.ts'
import { DocumentLimitsRule } from './document-limits.ts'
import { VariablePositionsRule } from './variable-positions.ts'

const RULES = [
  DocumentLimitsRule,
  ...specifiedRules.map((rule) => (rule === VariablesInAllowedPositionRule ? VariablePositionsRule : rule)),
]

/** Documents an application sends are few and come again and again: 1,000 of the largest are 64 MB. */
const KEPT = 1_000

/** A document that may be executed, or why not. */
export type Checked =
  | { document: DocumentNode }
  | { errors: readonly GraphQLError[]; code: 'GRAPHQL_PARSE_FAILED' | 'GRAPHQL_VALIDATION_FAILED' }

/** Parses and validates, and remembers the good ones by their text, those used last kept longest. */
export class Documents {
  readonly #schema: GraphQLSchema
  readonly #kept = new Map<string, Checked>()

  constructor(schema: GraphQLSchema) {
    this.#schema = schema
  }

  check(text: string): Checked {
    const kept = this.#kept.get(text)
    if (kept) {
      this.#kept.delete(text)
      this.#kept.set(text, kept)
      return kept
    }
    const checked = this.#examine(text)
    if ('document' in checked) {
      this.#kept.set(text, checked)
      if (this.#kept.size > KEPT) {
        const [oldest] = this.#kept.keys()
        if (oldest !== undefined) this.#kept.delete(oldest)
      }
    }
    return checked
  }

  #examine(text: string): Checked {
    if (Buffer.byteLength(text) > MAX_DOCUMENT_BYTES) {
      throw new TollgateError(
        'BAD_REQUEST',
        `query must be at most ${MAX_DOCUMENT_BYTES} bytes; pass values as variables`,
      )
    }
    let document: DocumentNode
    try {
      document = parse(text, { maxTokens: MAX_TOKENS })
    } catch (error) {
      if (!(error instanceof GraphQLError)) throw error
      return { errors: [error], code: 'GRAPHQL_PARSE_FAILED' }
    }
    const errors = validate(this.#schema, document, RULES, { maxErrors: 20 })
    return errors.length > 0 ? { errors, code: 'GRAPHQL_VALIDATION_FAILED' } : { document }
  }
}
