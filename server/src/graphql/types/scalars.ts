import { GraphQLError, Kind, type ObjectValueNode, type ValueNode } from 'graphql'
import { badUserInput } from '../../domain/errors.ts'
import { MAX_COUNT, MAX_METADATA_DEPTH } from '../../domain/limits.ts'
import { checkMetadata, type Json, type JsonObject } from '../../domain/metadata.ts'

type Variables = Record<string, unknown> | null | undefined

export function parseJsonObject(value: unknown): JsonObject {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw badUserInput('A JSON value must be an object')
  }
  const object = value as JsonObject
  checkMetadata(object)
  return object
}

export function parseJsonLiteral(node: ValueNode, variables: Variables): JsonObject {
  if (node.kind !== Kind.OBJECT) throw badUserInput('A JSON value must be an object')
  const object = objectOf(node, variables, 1)
  // With variables, it is being executed, and graphql-js drops our message: then the operation checks it.
  if (!variables) checkMetadata(object)
  return object
}

function objectOf(node: ObjectValueNode, variables: Variables, depth: number): JsonObject {
  const object: JsonObject = {}
  for (const { name, value } of node.fields) {
    // Defined, not assigned: `__proto__` is a key like any other.
    Object.defineProperty(object, name.value, {
      value: jsonOf(value, variables, depth + 1),
      enumerable: true,
      configurable: true,
      writable: true,
    })
  }
  return object
}

function jsonOf(node: ValueNode, variables: Variables, depth: number): Json {
  if (depth > MAX_METADATA_DEPTH + 2)
    throw badUserInput(`metadata must be nested at most ${MAX_METADATA_DEPTH} levels deep`, 'metadata')
  switch (node.kind) {
    case Kind.OBJECT:
      return objectOf(node, variables, depth)
    case Kind.LIST:
      return node.values.map((value) => jsonOf(value, variables, depth + 1))
    case Kind.INT:
    case Kind.FLOAT:
      return Number(node.value)
    case Kind.STRING:
    case Kind.ENUM:
      return node.value
    case Kind.BOOLEAN:
      return node.value
    case Kind.NULL:
      return null
    case Kind.VARIABLE:
      return (variables?.[node.name.value] ?? null) as Json
  }
}

export function parseWholeNumber(value: unknown): number {
  if (typeof value !== 'number' || !Number.isSafeInteger(value)) {
    throw badUserInput(`The value must be an integer between -${MAX_COUNT} and ${MAX_COUNT}`)
  }
  return value
}

export function parseWholeLiteral(node: ValueNode): number {
  if (node.kind !== Kind.INT) throw new GraphQLError('The value must be an integer', { nodes: node })
  return parseWholeNumber(Number(node.value))
}
