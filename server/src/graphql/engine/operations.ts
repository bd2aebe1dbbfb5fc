import type { GraphQLFieldResolver, GraphQLObjectType } from 'graphql'
import type { Args } from '../../operations/registry/entry.ts'

type RootType = GraphQLObjectType | null | undefined

/** A schema must define the operations that the registry lists for it, and no others. */
function checkOperations(type: RootType, names: readonly string[]): void {
  const fields = type?.getFields() ?? {}
  const undefinedNames = names.filter((name) => !fields[name])
  const unlisted = Object.keys(fields).filter((name) => !names.includes(name))
  if (undefinedNames.length > 0) throw new Error(`no resolver for ${undefinedNames} of the registry`)
  if (unlisted.length > 0) throw new Error(`no entry in the registry for ${unlisted}`)
}

/** Runs every operation of a root type through `run`, which passes the context on to the resolver. */
export function wrapOperations<Name extends string, Context>(
  type: RootType,
  names: readonly Name[],
  run: (name: Name, args: Args, context: Context, resolve: (context: Context) => unknown) => unknown,
): void {
  checkOperations(type, names)
  for (const name of names) {
    const field = type?.getFields()[name]
    const resolve = field?.resolve as GraphQLFieldResolver<unknown, Context> | undefined
    if (!field || !resolve) throw new Error(`no resolver for ${name}`)
    field.resolve = (root, args, context: Context, info) =>
      run(name, args, context, (next) => resolve(root, args, next, info))
  }
}
