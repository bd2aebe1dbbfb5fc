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
import { badRequest } from '../../domain/errors.ts'
import { MAX_DOCUMENT_BYTES, MAX_TOKENS } from '../../domain/limits.ts'
import { type DocumentLimits, documentLimitsRule } from './document-limits.ts'
import { Executable } from './executable.ts'
import { VariablePositionsRule } from './variable-positions.ts'

const RULES = [
  ...specifiedRules.map((rule) => (rule === VariablesInAllowedPositionRule ? VariablePositionsRule : rule)),
]

/**
 * Documents an application sends are few and come again and again: there is room for a thousand of an everyday
 * size. Counted in documents instead, a thousand of the largest held 450 MB, which anyone could send to the
 * dashboard's endpoint.
 */
const KEPT_BYTES = 32 * 1024 * 1024
/** What a parsed token with its part of the tree takes, measured on the densest documents. */
const BYTES_PER_TOKEN = 500

/** Throws where the caller may not have this document executed. */
export type Admit = (document: DocumentNode) => void

/** A document that may be executed, or why not. */
type Checked =
  | Executable
  | { errors: readonly GraphQLError[]; code: 'GRAPHQL_PARSE_FAILED' | 'GRAPHQL_VALIDATION_FAILED' }

/** Parses and validates, and remembers the good ones by their text, those used last kept longest. */
export class Documents {
  readonly #schema: GraphQLSchema
  readonly #rules: readonly ValidationRule[]
  readonly #kept = new Map<string, { executable: Executable; bytes: number }>()
  #keptBytes = 0
  #last: { text: string; executable: Executable } | null = null

  constructor(schema: GraphQLSchema, limits: DocumentLimits) {
    this.#schema = schema
    this.#rules = [documentLimitsRule(limits), ...RULES]
  }

  /** `admit` refuses by throwing: before the document is compared with the schema, which tells about that. */
  check(text: string, admit: Admit | null = null): Checked {
    if (this.#last?.text === text && admit === null) return this.#last.executable
    const kept = this.#kept.get(text)
    if (kept) admit?.(kept.executable.document)
    const checked = kept?.executable ?? this.#examine(text, admit)
    if (checked instanceof Executable) this.#keep(text, checked, kept?.bytes)
    return checked
  }

  #keep(text: string, executable: Executable, knownBytes: number | undefined): void {
    this.#last = { text, executable }
    const bytes = knownBytes ?? 2 * text.length + BYTES_PER_TOKEN * executable.tokens
    if (this.#kept.delete(text)) this.#keptBytes -= bytes
    this.#kept.set(text, { executable, bytes })
    this.#keptBytes += bytes
    for (const [oldest, { bytes }] of this.#kept) {
      if (this.#keptBytes <= KEPT_BYTES) break
      this.#kept.delete(oldest)
      this.#keptBytes -= bytes
    }
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
