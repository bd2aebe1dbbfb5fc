import {
  type DocumentNode,
  GraphQLError,
  type GraphQLSchema,
  parse,
  specifiedRules,
  VariablesInAllowedPositionRule,
  validate,
} from 'graphql'
import { badRequest } from '../domain/errors.ts'
import { MAX_DOCUMENT_BYTES, MAX_TOKENS } from '../domain/limits.ts'
import { DocumentLimitsRule } from './document-limits.ts'
import { Executable } from './executable.ts'
import { VariablePositionsRule } from './variable-positions.ts'

const RULES = [
  DocumentLimitsRule,
  ...specifiedRules.map((rule) => (rule === VariablesInAllowedPositionRule ? VariablePositionsRule : rule)),
]

/** Documents an application sends are few and come again and again: 1,000 of the largest are 64 MB. */
const KEPT = 1_000

/** A document that may be executed, or why not. */
export type Checked =
  | Executable
  | { errors: readonly GraphQLError[]; code: 'GRAPHQL_PARSE_FAILED' | 'GRAPHQL_VALIDATION_FAILED' }

/** Parses and validates, and remembers the good ones by their text, those used last kept longest. */
export class Documents {
  readonly #schema: GraphQLSchema
  readonly #kept = new Map<string, Executable>()
  #last: { text: string; executable: Executable } | null = null

  constructor(schema: GraphQLSchema) {
    this.#schema = schema
  }

  check(text: string): Checked {
    if (this.#last?.text === text) return this.#last.executable
    const kept = this.#kept.get(text)
    const checked = kept ?? this.#examine(text)
    if (checked instanceof Executable) this.#keep(text, checked)
    return checked
  }

  #keep(text: string, executable: Executable): void {
    this.#last = { text, executable }
    this.#kept.delete(text)
    this.#kept.set(text, executable)
    if (this.#kept.size > KEPT) {
      const [oldest] = this.#kept.keys()
      if (oldest !== undefined) this.#kept.delete(oldest)
    }
  }

  #examine(text: string): Checked {
    if (Buffer.byteLength(text) > MAX_DOCUMENT_BYTES) {
      throw badRequest(`query must be at most ${MAX_DOCUMENT_BYTES} bytes; pass values as variables`)
    }
    let document: DocumentNode
    try {
      document = parse(text, { maxTokens: MAX_TOKENS })
    } catch (error) {
      if (!(error instanceof GraphQLError)) throw error
      return { errors: [error], code: 'GRAPHQL_PARSE_FAILED' }
    }
    const errors = validate(this.#schema, document, RULES, { maxErrors: 20 })
    return errors.length > 0
      ? { errors, code: 'GRAPHQL_VALIDATION_FAILED' }
      : new Executable(this.#schema, document)
  }
}
