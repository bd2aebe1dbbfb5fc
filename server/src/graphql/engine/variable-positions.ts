import {
  type ASTVisitor,
  GraphQLError,
  GraphQLInt,
  GraphQLList,
  GraphQLNonNull,
  GraphQLString,
  type GraphQLType,
  isEnumType,
  isListType,
  isNonNullType,
  isTypeSubTypeOf,
  Kind,
  typeFromAST,
  type ValidationContext,
  type VariableDefinitionNode,
} from 'graphql'

/**
 * Variables in allowed positions (GraphQL §5.8.5), with two exceptions for callers who follow the spec's tables: an
 * `Int` variable is accepted for a SafeInt, and a `String` variable for one of our enums. The operations check such
 * values themselves.
 */
export function VariablePositionsRule(context: ValidationContext): ASTVisitor {
  const definitions = new Map<string, VariableDefinitionNode>()
  return {
    OperationDefinition: {
      enter: () => definitions.clear(),
      leave(operation) {
        for (const { node, type, defaultValue } of context.getRecursiveVariableUsages(operation)) {
          const definition = definitions.get(node.name.value)
          const declared = definition && typeFromAST(context.getSchema(), definition.type)
          if (!definition || !declared || !type) continue
          const hasDefault =
            (definition.defaultValue && definition.defaultValue.kind !== Kind.NULL) ||
            defaultValue !== undefined
          const position = isNonNullType(type) && hasDefault && !isNonNullType(declared) ? type.ofType : type
          if (!isTypeSubTypeOf(context.getSchema(), widened(declared, position), position)) {
            context.reportError(
              new GraphQLError(
                `Variable "$${node.name.value}" of type "${declared}" used in position expecting type "${type}".`,
                { nodes: [definition, node] },
              ),
            )
          }
        }
      },
    },
    VariableDefinition(node) {
      definitions.set(node.variable.name.value, node)
    },
  }
}

function widened(declared: GraphQLType, position: GraphQLType): GraphQLType {
  if (isNonNullType(declared)) {
    const inner = widened(declared.ofType, isNonNullType(position) ? position.ofType : position)
    return isNonNullType(inner) ? inner : new GraphQLNonNull(inner)
  }
  if (isNonNullType(position)) return widened(declared, position.ofType)
  if (isListType(declared) && isListType(position))
    return new GraphQLList(widened(declared.ofType, position.ofType))
  if (declared === GraphQLInt && 'name' in position && position.name === 'SafeInt') return position
  if (declared === GraphQLString && isEnumType(position)) return position
  return declared
}
