import type { GraphQLField, GraphQLSchema } from 'graphql'
import { tracing } from '../../telemetry/tracing.ts'

const traced = new WeakSet<GraphQLSchema>()

/** Gives every operation of the schema a span of its own. Called only if tracing is on: otherwise resolvers stay as they are. */
export function traceOperations(schema: GraphQLSchema): void {
  if (traced.has(schema)) return
  traced.add(schema)
  for (const type of [schema.getQueryType(), schema.getMutationType()])
    for (const field of Object.values(type?.getFields() ?? {})) traceField(field)
}

function traceField(field: GraphQLField<unknown, unknown>): void {
  const { resolve } = field
  if (!resolve) return
  field.resolve = (root, args, context, info) => {
    const run = () => resolve(root, args, context, info)
    return tracing ? tracing.span(field.name, {}, run) : run()
  }
}
