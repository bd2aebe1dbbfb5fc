interface Builtins {
  'node:fs': typeof import('node:fs')
  'node:os': typeof import('node:os')
  'node:path': typeof import('node:path')
}

/** A Node module, loaded when needed: an import would keep bundlers from building for other platforms. */
export function builtin<Name extends keyof Builtins>(name: Name): Builtins[Name] {
  const found = globalThis.process?.getBuiltinModule?.(name)
  if (!found) throw new Error(`Storing the usage queue in a file requires ${name}, which is not available`)
  return found as Builtins[Name]
}
