import {
  type GraphQLField,
  type GraphQLObjectType,
  type GraphQLOutputType,
  getNamedType,
  getNullableType,
  isListType,
  isObjectType,
} from 'graphql'

/**
 * How much of an object an answer shows: FULL, or BRIEF without its lists of objects. A PAGE shows its items in full. An object in a list inside another
 * object is BRIEF, together with everything below it. A feature then lists its packages without their features: with
 * them, one page of features could contain the catalogue a thousand times.
 */
export type Extent = 'PAGE' | 'FULL' | 'BRIEF'

interface Part {
  field: GraphQLField<unknown, unknown>
  /** null: a scalar, an enum, or a list of scalars or enums */
  object: { type: GraphQLObjectType; extent: Extent } | null
}

/** The fields of an object in an answer. */
export function partsOf(type: GraphQLObjectType, extent: Extent): Part[] {
  return Object.values(type.getFields()).flatMap((field): Part[] => {
    if (field.args.length > 0) throw new Error(`${type}.${field.name} has arguments, which REST cannot pass`)
    const inner = getNamedType(field.type)
    if (!isObjectType(inner)) return [{ field, object: null }]
    const listed = isListType(getNullableType(field.type))
    if (listed && extent === 'BRIEF') return []
    if (extent === 'PAGE') return [{ field, object: { type: inner, extent: 'FULL' } }]
    return [{ field, object: { type: inner, extent: listed ? 'BRIEF' : extent } }]
  })
}

/** The GraphQL selection of a whole answer. Empty for a scalar. */
export function selectionOf(type: GraphQLOutputType, extent: Extent = 'FULL'): string {
  const named = getNamedType(type)
  return isObjectType(named) ? selected(named, extent, []) : ''
}

function selected(type: GraphQLObjectType, extent: Extent, within: readonly GraphQLObjectType[]): string {
  // A circle through lists ends at the second list. Any other would be an answer without end.
  if (within.filter((outer) => outer === type).length > 1) throw new Error(`${type} contains itself`)
  const parts = partsOf(type, extent).map(({ field, object }) =>
    object ? `${field.name} ${selected(object.type, object.extent, [...within, type])}` : field.name,
  )
  return `{ ${parts.join(' ')} }`
}
