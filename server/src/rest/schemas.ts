import {
  astFromValue,
  type GraphQLArgument,
  type GraphQLEnumType,
  type GraphQLInputField,
  type GraphQLInputType,
  type GraphQLLeafType,
  type GraphQLObjectType,
  type GraphQLOutputType,
  type GraphQLType,
  isEnumType,
  isInputObjectType,
  isListType,
  isNonNullType,
  isObjectType,
  isRequiredInputField,
  valueFromASTUntyped,
} from 'graphql'
import { MAX_COUNT } from '../domain/limits.ts'
import { type Extent, partsOf, selectionOf } from './selection.ts'

/** A JSON Schema of draft 2020-12, as OpenAPI 3.1 uses it. */
export type JsonSchema = Readonly<Record<string, unknown>>

const MAX_INT = 2 ** 31 - 1
const SCALARS: Readonly<Record<string, JsonSchema>> = {
  String: { type: 'string' },
  Boolean: { type: 'boolean' },
  Float: { type: 'number' },
  Int: { type: 'integer', minimum: -MAX_INT - 1, maximum: MAX_INT },
  SafeInt: { type: 'integer', minimum: -MAX_COUNT, maximum: MAX_COUNT },
  JSON: { type: 'object' },
}

/** Converts types of the GraphQL schema, and collects those that have a name. */
export class Schemas {
  readonly #named = new Map<string, JsonSchema>()

  /** By name, in alphabetical order. */
  get named(): Record<string, JsonSchema> {
    return Object.fromEntries([...this.#named].sort(([a], [b]) => (a < b ? -1 : 1)))
  }

  /** A value in an answer. */
  output(type: GraphQLOutputType, extent: Extent): JsonSchema {
    if (isNonNullType(type)) return this.present(type.ofType, extent)
    return orNull(this.present(type, extent))
  }

  /** The same without null. */
  present(type: GraphQLOutputType, extent: Extent): JsonSchema {
    if (isNonNullType(type)) return this.present(type.ofType, extent)
    if (isListType(type)) return { type: 'array', items: this.output(type.ofType, extent) }
    if (isObjectType(type)) return this.#object(type, extent)
    return this.#leaf(leaf(type))
  }

  /** A value in a request. Null means the same as its absence, unless the value is required. */
  input({ type, description, defaultValue }: GraphQLArgument | GraphQLInputField): JsonSchema {
    const required = isNonNullType(type) || defaultValue !== undefined
    const schema = required ? this.inputValue(type) : orNull(this.inputValue(type))
    return { ...schema, ...described(description), ...defaulted(type, defaultValue) }
  }

  inputValue(type: GraphQLInputType): JsonSchema {
    if (isNonNullType(type)) return this.inputValue(type.ofType)
    if (isListType(type)) return { type: 'array', items: this.inputValue(type.ofType) }
    if (!isInputObjectType(type)) return this.#leaf(leaf(type))
    const fields = Object.values(type.getFields())
    return this.#reference(type.name, () => ({ ...this.inputObject(fields), ...described(type.description) }))
  }

  inputObject(fields: readonly GraphQLInputField[]): JsonSchema {
    return objectOf(
      fields.map((field) => [field.name, this.input(field)]),
      fields.filter(isRequiredInputField).map(({ name }) => name),
    )
  }

  #object(type: GraphQLObjectType, extent: Extent): JsonSchema {
    const isWhole = selectionOf(type, extent) === selectionOf(type, 'FULL')
    return this.#reference(isWhole ? type.name : `${type.name}Summary`, () => {
      const fields = partsOf(type, extent).map(({ field, object }) => {
        const schema = this.output(field.type, object?.extent ?? 'FULL')
        return [field.name, { ...schema, ...described(field.description) }] as const
      })
      const properties = Object.fromEntries(fields)
      return { type: 'object', ...described(type.description), required: Object.keys(properties), properties }
    })
  }

  #leaf(type: GraphQLLeafType): JsonSchema {
    if (isEnumType(type)) return this.#reference(type.name, () => enumSchema(type))
    const schema = SCALARS[type.name]
    if (!schema) throw new Error(`the scalar ${type.name} has no JSON Schema`)
    return schema
  }

  #reference(name: string, schema: () => JsonSchema): JsonSchema {
    if (!this.#named.has(name)) {
      // Reserved first: a type may refer to itself.
      this.#named.set(name, {})
      this.#named.set(name, schema())
    }
    return { $ref: `#/components/schemas/${name}` }
  }
}

/** A request object: no other names are accepted. */
export function objectOf(
  properties: readonly (readonly [name: string, schema: JsonSchema])[],
  required: readonly string[],
): JsonSchema {
  return {
    type: 'object',
    ...(required.length > 0 && { required }),
    properties: Object.fromEntries(properties),
    additionalProperties: false,
  }
}

export const described = (description: string | null | undefined): JsonSchema =>
  description ? { description } : {}

function orNull(schema: JsonSchema): JsonSchema {
  return typeof schema.type === 'string'
    ? { ...schema, type: [schema.type, 'null'] }
    : { anyOf: [schema, { type: 'null' }] }
}

function defaulted(type: GraphQLInputType, value: unknown): JsonSchema {
  const literal = value === undefined ? null : astFromValue(value, type)
  return literal ? { default: valueFromASTUntyped(literal) } : {}
}

function enumSchema(type: GraphQLEnumType): JsonSchema {
  const names = type.getValues().map(({ name }) => name)
  return { type: 'string', enum: names, ...described(type.description) }
}

function leaf(type: GraphQLType): GraphQLLeafType {
  if ('parseValue' in type) return type
  throw new Error(`${type} is neither an object nor a scalar`)
}
