import { adminSchema } from '../graphql/admin/schema.ts'
import { type OperationName, RestOperation } from './operation.ts'
import { ROUTES } from './routes.ts'

let operations: readonly RestOperation[] | undefined

/** Every operation that REST offers, in the order of the routes. Built on first use. */
export function restOperations(): readonly RestOperation[] {
  operations ??= compileRestOperations()
  return operations
}

/** As `restOperations`, compiled anew: with the resolvers that the schema has now. */
export const compileRestOperations = (): readonly RestOperation[] =>
  Object.entries(ROUTES).map(
    ([name, route]) => new RestOperation(adminSchema(), name as OperationName, route),
  )

export function operationNamed(operations: readonly RestOperation[], name: OperationName): RestOperation {
  const found = operations.find((operation) => operation.name === name)
  if (!found) throw new Error(`${name} has no route`)
  return found
}
