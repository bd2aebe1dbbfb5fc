import SchemaBuilder from '@pothos/core'
import {
  type GraphQLSchema,
  getNullableType,
  isEnumType,
  isIntrospectionType,
  isListType,
  isNonNullType,
  Kind,
} from 'graphql'
import type { JsonObject } from '../../domain/metadata.ts'
import { parseJsonLiteral, parseJsonObject, parseWholeLiteral, parseWholeNumber } from './scalars.ts'

interface Types<Context extends object> {
  Context: Context
  Scalars: {
    JSON: { Input: JsonObject; Output: JsonObject }
    SafeInt: { Input: number; Output: number }
    ID: { Input: string; Output: string }
  }
  DefaultFieldNullability: false
}

export type Builder<Context extends object> = PothosSchemaTypes.SchemaBuilder<
  PothosSchemaTypes.ExtendDefaultTypes<Types<Context>>
>

/** A builder with our scalars. Each schema has its own. */
export function newBuilder<Context extends object>(): Builder<Context> {
  const builder = new SchemaBuilder<Types<Context>>({
    defaultFieldNullability: false,
  })
  builder.scalarType('JSON', {
    description: 'A JSON object.',
    serialize: (value) => value,
    parseValue: parseJsonObject,
    parseLiteral: parseJsonLiteral,
  })
  builder.scalarType('SafeInt', {
    description: 'An integer between -(2^53-1) and 2^53-1. Variables may also be declared as Int.',
    serialize: (value) => value,
    parseValue: parseWholeNumber,
    parseLiteral: parseWholeLiteral,
  })
  return builder
}

/** Builds the schema on first use. */
export function builtOnce(build: () => GraphQLSchema): () => GraphQLSchema {
  let schema: GraphQLSchema | undefined
  return () => {
    schema ??= build()
    return schema
  }
}

/** The spec calls its enums "String enum": `"MONTH"` is accepted as well as `MONTH`. */
export function acceptQuotedEnums(schema: GraphQLSchema): GraphQLSchema {
  for (const type of Object.values(schema.getTypeMap())) {
    if (!isEnumType(type) || isIntrospectionType(type)) continue
    const parseLiteral = type.parseLiteral.bind(type)
    type.parseLiteral = (node, variables) =>
      parseLiteral(node.kind === Kind.STRING ? { kind: Kind.ENUM, value: node.value } : node, variables)
  }
  return schema
}

/**
 * An operation that fails returns null, so that the results of the others in the request are kept. Lists are an
 * exception: they fail only with the whole app.
 */
export function nullableOperations(schema: GraphQLSchema, neverFail: readonly string[] = []): GraphQLSchema {
  const queries = Object.values(schema.getQueryType()?.getFields() ?? {})
  const single = queries.filter(({ type }) => !isListType(getNullableType(type)))
  for (const field of [...single, ...Object.values(schema.getMutationType()?.getFields() ?? {})]) {
    // REST needs to know: it answers an error instead of a result, not beside null.
    field.extensions = { ...field.extensions, nullable: !isNonNullType(field.type) }
    if (!neverFail.includes(field.name)) field.type = getNullableType(field.type)
  }
  return schema
}
