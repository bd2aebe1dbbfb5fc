import {
  type DocumentNode,
  type ExecutionResult,
  execute,
  type GraphQLSchema,
  Kind,
  type OperationDefinitionNode,
} from 'graphql'
import { compileQuery, isCompiledQuery } from 'graphql-jit'
import { isCompilable } from './compilable.ts'

type Compiled = (
  root: undefined,
  context: object,
  variables: Record<string, unknown>,
) => ExecutionResult | Promise<ExecutionResult>

/** A document used once is not compiled, since compiling costs more than several executions. */
const USES_BEFORE_COMPILING = 3

/** Compiled code reports every error in the variables: a list of 200,000 took 3 s. */
const MOST_COMPILED_VALUES = 1_000

/** A valid document. graphql-js executes it; if used repeatedly, it is compiled, with the same results. */
export class Executable {
  readonly #schema: GraphQLSchema
  readonly #document: DocumentNode
  /** The operation, if there is exactly one: only then is the document compiled. */
  readonly #sole: OperationDefinitionNode | null
  #uses = 0
  #compiled: Compiled | null = null

  constructor(schema: GraphQLSchema, document: DocumentNode) {
    this.#schema = schema
    this.#document = document
    const [first, ...others] = document.definitions.filter((d) => d.kind === Kind.OPERATION_DEFINITION)
    this.#sole = first && others.length === 0 ? first : null
  }

  get document(): DocumentNode {
    return this.#document
  }

  get tokens(): number {
    return tokensOf(this.#document)
  }

  run(
    context: object,
    variables: Record<string, unknown>,
    operationName: string | null,
  ): ExecutionResult | Promise<ExecutionResult> {
    if (this.#sole && (operationName === null || operationName === this.#sole.name?.value)) {
      if (++this.#uses === USES_BEFORE_COMPILING) this.#compile()
      const compiled =
        this.#compiled && valuesLeft(variables, MOST_COMPILED_VALUES) > 0 ? this.#compiled : null
      const result = compiled?.(undefined, context, variables)
      // Errors without data: the variables were invalid and nothing was executed. graphql-js finds the errors again,
      // with better messages.
      if (result && !('errors' in result && !('data' in result))) return result
    }
    return execute({
      schema: this.#schema,
      document: this.#document,
      variableValues: variables,
      operationName,
      contextValue: context,
      // Each error quotes the whole value: 50 of them, the default, turn 1 MiB of variables into 500 MB.
      options: { maxCoercionErrors: 1 },
    })
  }

  #compile(): void {
    if (!isCompilable(this.#schema, this.#document)) return
    const compiled = compileQuery(this.#schema, this.#document)
    if (isCompiledQuery(compiled)) this.#compiled = compiled.query as Compiled
  }
}

export function tokensOf({ loc }: DocumentNode): number {
  let count = 0
  for (let token = loc?.startToken ?? null; token; token = token.next) count += 1
  return count
}

/** The rest of `budget` after subtracting one for every value inside `value`. */
function valuesLeft(value: unknown, budget: number): number {
  let left = budget - 1
  if (typeof value !== 'object' || value === null) return left
  // It would be taken for an input object without fields.
  if (Array.isArray(value) && value.length === 0) return 0
  for (const child of Object.values(value)) {
    if (left <= 0) break
    left = valuesLeft(child, left)
  }
  return left
}
