import { badUserInput } from './errors.ts'
import { MAX_COUNT, MAX_METADATA_BYTES, MAX_METADATA_DEPTH } from './limits.ts'

export type Json = null | boolean | number | string | Json[] | { [key: string]: Json }
export type JsonObject = { [key: string]: Json }

/** Metadata is returned exactly as it was sent. Values that cannot be stored exactly are rejected. */
export function checkMetadata(metadata: JsonObject): void {
  checkDepth(metadata, 1)
  const bytes = Buffer.byteLength(JSON.stringify(metadata))
  if (bytes > MAX_METADATA_BYTES) {
    throw badUserInput(
      `metadata must be at most ${MAX_METADATA_BYTES} bytes of JSON; it has ${bytes}`,
      'metadata',
    )
  }
}

function checkDepth(value: Json, depth: number): void {
  if (typeof value === 'number' && Math.abs(value) > MAX_COUNT) {
    throw badUserInput(
      'metadata contains a number beyond 2^53-1. Send it as a string to keep its precision.',
      'metadata',
    )
  }
  if (typeof value !== 'object' || value === null) return
  if (depth > MAX_METADATA_DEPTH) {
    throw badUserInput(`metadata must be nested at most ${MAX_METADATA_DEPTH} levels deep`, 'metadata')
  }
  for (const child of Object.values(value)) checkDepth(child, depth + 1)
}

/** Whether two values mean the same: the order of keys means nothing. */
export function isSameJson(a: Json, b: Json): boolean {
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return a === b
  if (Array.isArray(a) || Array.isArray(b)) {
    if (!Array.isArray(a) || !Array.isArray(b) || a.length !== b.length) return false
    return a.every((one, i) => isSameJson(one, b[i] as Json))
  }
  const keys = Object.keys(a)
  if (keys.length !== Object.keys(b).length) return false
  return keys.every((key) => Object.hasOwn(b, key) && isSameJson(a[key] as Json, b[key] as Json))
}
