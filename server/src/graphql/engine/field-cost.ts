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

/** The type of a selection; null if there is none by that name. */
export type Parent = GraphQLObjectType | GraphQLInterfaceType | null

interface FieldCost {
  own: number
  /** how often its selection counts */
  times: number
  introspects: boolean
  type: Parent
}

/** A top-level field is a statement or a transaction; others come with their parent. */
const ROOT = 10
/** A top-level list is everything there is, or a batch of the maximum size. */
const ROOT_ENTRIES = 100
const ENTRIES = 10
/** Lists that are shorter than most, by type and field. */
const SHORT_LISTS = new Map([
  ['Grant.caps', 2],
  ['BillingTemplate.choices', 2],
])
/** Typical lengths of introspection lists, for our schemas. Most fields have few arguments, most types are not enums. */
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
 * The cost of a field, in values of the response, with a plausible length for lists. The true length is known only
 * after reading them, which is too late to reject.
 */
export function costOfField(parent: Parent, name: string, root: Parent, schema: GraphQLSchema): FieldCost {
  const atTop = parent !== null && parent === root
  const introspects = (atTop && META_FIELDS.has(name)) || (parent?.name.startsWith('__') ?? false)
  const field = parent?.getFields()[name] ?? (atTop ? META_FIELDS.get(name) : undefined)
  if (!field) return { own: 1, times: 1, introspects, type: null }
  const named: GraphQLNamedType | undefined = schema.getType(getNamedType(field.type).name)
  const type = isComposite(named) ? named : null
  const isList = isListType(getNullableType(field.type))
  const entries = introspects
    ? SCHEMA_ENTRIES.get(name)
    : atTop
      ? ROOT_ENTRIES
      : SHORT_LISTS.get(`${parent?.name}.${name}`)
  return { own: atTop ? ROOT : 1, times: isList ? (entries ?? ENTRIES) : 1, introspects, type }
}

export const isComposite = (type: GraphQLNamedType | undefined): type is NonNullable<Parent> =>
  isObjectType(type) || isInterfaceType(type)

const META_FIELDS = new Map([
  ['__schema', SchemaMetaFieldDef],
  ['__type', TypeMetaFieldDef],
])
