import {
  type DocumentNode,
  GraphQLError,
  type GraphQLSchema,
  parse,
  specifiedRules,
  type ValidationRule,
  VariablesInAllowedPositionRule,
  validate,
} from 'graphql'
import { LRUCache } from 'lru-cache'
import { badRequest } from '../../domain/errors.ts'
import { MAX_CACHED_DOCUMENT_BYTES, MAX_DOCUMENT_BYTES, MAX_TOKENS } from '../../domain/limits.ts'
import { type DocumentLimits, documentLimitsRule } from './document-limits.ts'
import { Executable } from './executable.ts'
import { VariablePositionsRule } from './variable-positions.ts'

const RULES = [
  ...specifiedRules.map((rule) => (rule === VariablesInAllowedPositionRule ? VariablePositionsRule : rule)),
]

/** Memory per token, with its part of the tree, measured with the densest documents. */
const BYTES_PER_TOKEN = 500

/** Throws if the caller may not execute this document. */
export type Admit = (document: DocumentNode) => void

/** An executable document, or its errors. */
type Checked =
  | Executable
  | { errors: readonly GraphQLError[]; code: 'GRAPHQL_PARSE_FAILED' | 'GRAPHQL_VALIDATION_FAILED' }

/** Parses and validates documents, and caches valid ones by their text. The least recently used are dropped first. */
export class Documents {
  readonly #schema: GraphQLSchema
  readonly #rules: readonly ValidationRule[]
  /**
   * Bounded by memory: a thousand of the largest documents would take 450 MB, and anyone can send them to the
   * dashboard.
   */
  readonly #kept = new LRUCache<string, Executable>({
    maxSize: MAX_CACHED_DOCUMENT_BYTES,
    sizeCalculation: ({ tokens }, text) => 2 * text.length + BYTES_PER_TOKEN * tokens,
  })
  #last: { text: string; executable: Executable } | null = null

  constructor(schema: GraphQLSchema, limits: DocumentLimits) {
    this.#schema = schema
    this.#rules = [documentLimitsRule(limits), ...RULES]
  }

  /** `admit` throws to reject a document before validation, whose errors would reveal the schema. */
  check(text: string, admit: Admit | null = null): Checked {
    if (this.#last?.text === text && admit === null) return this.#last.executable
    const kept = this.#kept.get(text)
    if (kept) admit?.(kept.document)
    const checked = kept ?? this.#examine(text, admit)
    if (checked instanceof Executable) {
      if (!kept) this.#kept.set(text, checked)
      this.#last = { text, executable: checked }
    }
    return checked
  }

  #examine(text: string, admit: Admit | null): Checked {
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
    admit?.(document)
    const errors = validate(this.#schema, document, this.#rules, { maxErrors: 20 })
    return errors.length > 0
      ? { errors, code: 'GRAPHQL_VALIDATION_FAILED' }
      : new Executable(this.#schema, document)
  }
}
