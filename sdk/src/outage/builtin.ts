/** A module of Node's, taken when it is needed: an import would keep bundlers from building for anything else. */
export function builtin<Name extends 'node:fs' | 'node:os' | 'node:path'>(name: Name) {
  const found = globalThis.process?.getBuiltinModule?.(name)
  if (!found)
    throw new Error(`${name} is needed to keep the usage queue in a file, and is not available here`)
  return found
}
