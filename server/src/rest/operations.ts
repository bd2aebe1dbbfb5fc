import { adminSchema } from '../graphql/admin/schema.ts'
import { type OperationName, RestOperation } from './operation.ts'
import { ROUTES } from './routes.ts'

let operations: readonly RestOperation[] | undefined

/** Every operation that REST offers, in the order of the routes. Built on first use. */
export function restOperations(): readonly RestOperation[] {
  operations ??= Object.entries(ROUTES).map(
    ([name, route]) => new RestOperation(adminSchema(), name as OperationName, route),
  )
  return operations
}
