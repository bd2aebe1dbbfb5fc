import type { CallError } from '../errors.ts'

/** The result of every call, which never throws. If there is an `error`, its `code` says which. */
export type Result<T> = { data: T; error: null } | { data: null; error: CallError }

/** A free-form object of up to 16 KiB. */
export type JsonObject = { [key: string]: unknown }
