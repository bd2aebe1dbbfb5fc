import {
  type DocumentNode,
  type ExecutionResult,
  execute,
  type GraphQLSchema,
  Kind,
  type OperationDefinitionNode,
} from 'graphql'
import { compileQuery, isCompiledQuery } from 'graphql-jit'

type Compiled = (
  root: undefined,
  context: object,
  variables: Record<string, unknown>,
) => ExecutionResult | Promise<ExecutionResult>

/** A document that comes once is executed as it is: to compile it costs more than several executions. */
const USES_BEFORE_COMPILING = 3

/** A valid document. graphql-js executes it; one that keeps coming is compiled to the same effect. */
export class Executable {
  readonly #schema: GraphQLSchema
  readonly #document: DocumentNode
  /** The one operation, if there is but one: only such a document is compiled. */
  readonly #sole: OperationDefinitionNode | null
  #uses = 0
  #compiled: Compiled | null = null

  constructor(schema: GraphQLSchema, document: DocumentNode) {
    this.#schema = schema
    this.#document = document
    const [first, ...others] = document.definitions.filter((d) => d.kind === Kind.OPERATION_DEFINITION)
    this.#sole = first && others.length === 0 ? first : null
  }

  run(
    context: object,
    variables: Record<string, unknown>,
    operationName: string | null,
  ): ExecutionResult | Promise<ExecutionResult> {
    if (this.#sole && (operationName === null || operationName === this.#sole.name?.value)) {
      if (++this.#uses === USES_BEFORE_COMPILING) this.#compile()
      const result = this.#compiled?.(undefined, context, variables)
      // Errors at once and no data: the variables did not fit, and nothing was executed. graphql-js, which words
      // such errors for people, may find them again.
      if (result && !('errors' in result && !('data' in result))) return result
    }
    return execute({
      schema: this.#schema,
      document: this.#document,
      variableValues: variables,
      operationName,
      contextValue: context,
    })
  }

  #compile(): void {
    const compiled = compileQuery(this.#schema, this.#document)
    if (isCompiledQuery(compiled)) this.#compiled = compiled.query as Compiled
  }
}
