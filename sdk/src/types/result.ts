import type { CallError } from '../errors.ts'

/** Result of a call. Calls never throw; `error.code` identifies an error. */
export type Result<T> = { data: T; error: null } | { data: null; error: CallError }

/** A JSON object of up to 16 KiB. */
export type JsonObject = { [key: string]: unknown }
