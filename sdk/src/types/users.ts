import type { JsonObject } from './result.ts'

/** An end user of the application. */
export interface User {
  /** ID set by the application. */
  id: string
  /** ID of the user at the billing provider. */
  billingId: string | null
  /** Name of the user. */
  name: string | null
  /** Email address of the user. */
  email: string | null
  /** Custom data. */
  metadata: JsonObject
}

/** A deleted user. */
export interface DeletedUser {
  /** ID of the deleted user, which can be used again. */
  id: string
}

/** One page of the data stored about a user. */
export interface UserExport extends JsonObject {
  /** Cursor for the next page, passed as `after`; null on the last page. */
  next: string | null
}

/** Token for the browser of one user. */
export interface GeneratedUserToken {
  /** Value for the `token` option of `TollgateClient`. */
  token: string
}

/** Input of `createUser`. */
export interface CreateUserInput {
  /** ID of 1 to 255 characters, unique among the users of the app. */
  id: string
  /** ID of the user at the billing provider. @default null */
  billingId?: string | null | undefined
  /** Name of the user. @default null */
  name?: string | null | undefined
  /** Email address of the user. @default null */
  email?: string | null | undefined
  /** Custom data. @default {} */
  metadata?: JsonObject | null | undefined
}

/** Changes to a user. Omitted fields are not changed. `email` and `billingId` are changed in the dashboard. */
export interface UpdateUserInput {
  /** New ID of the user. @default unchanged */
  id?: string | undefined
  /** Name of the user. @default unchanged */
  name?: string | null | undefined
  /** Custom data, replaced as a whole. @default unchanged */
  metadata?: JsonObject | null | undefined
}
