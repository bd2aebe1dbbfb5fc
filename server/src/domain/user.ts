import { checkIdentifier, checkText } from './identifier.ts'
import { checkMetadata, type JsonObject } from './metadata.ts'

export interface User {
  id: string
  billingId: string | null
  name: string | null
  email: string | null
  metadata: JsonObject
}

/** What `updateUser` may change. Email and billing id change only by CSV import. */
export interface UserChange {
  id?: string
  name?: string | null
  metadata?: JsonObject
}

export function checkNewUser(user: User): void {
  checkText('email', user.email)
  if (user.billingId !== null) checkIdentifier('billingId', user.billingId)
  checkUserChange(user)
}

export function checkUserChange(change: UserChange): void {
  if (change.id !== undefined) checkIdentifier('id', change.id)
  checkText('name', change.name)
  if (change.metadata) checkMetadata(change.metadata)
}
