import {
  type GraphQLInterfaceType,
  type GraphQLNamedType,
  type GraphQLObjectType,
  type GraphQLSchema,
  getNamedType,
  getNullableType,
  isInterfaceType,
  isListType,
  isObjectType,
  SchemaMetaFieldDef,
  TypeMetaFieldDef,
} from 'graphql'

/** The type that a selection is made on; null where there is none by that name. */
export type Parent = GraphQLObjectType | GraphQLInterfaceType | null

interface FieldCost {
  own: number
  /** how often what is selected in it counts */
  times: number
  /** whether it asks about the schema instead of what the service keeps */
  introspects: boolean
  type: Parent
}

/** A top-level field is a statement or a transaction; the others are there with what holds them. */
const ROOT = 10
/** A list at the top is everything there is, or a batch of as many entries as that takes. */
const ROOT_ENTRIES = 100
const ENTRIES = 10
/** How long the lists of a schema are: of ours, about. Most fields take hardly an argument, most types are no enum. */
const SCHEMA_ENTRIES = new Map([
  ['types', 100],
  ['fields', 10],
  ['inputFields', 3],
  ['args', 2],
  ['enumValues', 2],
  ['interfaces', 1],
  ['possibleTypes', 1],
])

/**
 * What a field makes the service do, in values of its answer: one for each that it holds, lists counted at a length that is
 * plausible for them. How long they are is known only once they are read, which is too late to refuse.
 */
export function costOfField(parent: Parent, name: string, root: Parent, schema: GraphQLSchema): FieldCost {
  const atTop = parent !== null && parent === root
  const introspects = (atTop && META_FIELDS.has(name)) || (parent?.name.startsWith('__') ?? false)
  const field = parent?.getFields()[name] ?? (atTop ? META_FIELDS.get(name) : undefined)
  if (!field) return { own: 1, times: 1, introspects, type: null }
  const named: GraphQLNamedType | undefined = schema.getType(getNamedType(field.type).name)
  const type = isComposite(named) ? named : null
  const isList = isListType(getNullableType(field.type))
  const entries = introspects ? SCHEMA_ENTRIES.get(name) : atTop ? ROOT_ENTRIES : undefined
  return { own: atTop ? ROOT : 1, times: isList ? (entries ?? ENTRIES) : 1, introspects, type }
}

export const isComposite = (type: GraphQLNamedType | undefined): type is NonNullable<Parent> =>
  isObjectType(type) || isInterfaceType(type)

const META_FIELDS = new Map([
  ['__schema', SchemaMetaFieldDef],
  ['__type', TypeMetaFieldDef],
])
