import { checkEmail } from './email.ts'
import { checkIdentifier, checkText } from './identifier.ts'
import { checkMetadata, type JsonObject } from './metadata.ts'

export interface User {
  id: string
  billingId: string | null
  name: string | null
  email: string | null
  metadata: JsonObject
}

/** Validates a new user or an update. Null clears a value. */
export function checkUser(user: Partial<User>): void {
  if (user.id !== undefined) checkIdentifier('id', user.id)
  if (user.billingId !== undefined && user.billingId !== null) checkIdentifier('billingId', user.billingId)
  checkText('name', user.name)
  checkEmail(user.email)
  if (user.metadata) checkMetadata(user.metadata)
}
