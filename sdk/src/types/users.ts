import type { JsonObject } from './result.ts'

/** An end user of the application. */
export interface User {
  /** Their id, chosen by you. */
  id: string
  /** Their id at the billing provider. */
  billingId: string | null
  /** Their name. */
  name: string | null
  /** Their email address. */
  email: string | null
  /** Whatever you keep with them. */
  metadata: JsonObject
}

/** A user who no longer exists. */
export interface DeletedUser {
  /** The id, which is free again. */
  id: string
}

/** All that is stored about a user, or a part of it. */
export interface UserExport extends JsonObject {
  /** Not null: there is more, to be asked for with this as `after`. */
  next: string | null
}

/** For the page of one user. */
export interface GeneratedUserToken {
  /** What `TollgateClient` takes as its `token`. */
  token: string
}

/** A new user. */
export interface CreateUserInput {
  /** 1 to 255 characters, unique among the app's users. */
  id: string
  /** Their id at the billing provider. @default null */
  billingId?: string | null | undefined
  /** Their name. @default null */
  name?: string | null | undefined
  /** Their email address. @default null */
  email?: string | null | undefined
  /** Whatever you keep with them. @default {} */
  metadata?: JsonObject | null | undefined
}

/** Changes to a user; absent fields stay as they are. `email` and `billingId` are changed in the dashboard. */
export interface UpdateUserInput {
  /** The user's new id. @default unchanged */
  id?: string | undefined
  /** Their name. @default unchanged */
  name?: string | null | undefined
  /** Replaced as a whole. @default unchanged */
  metadata?: JsonObject | null | undefined
}
