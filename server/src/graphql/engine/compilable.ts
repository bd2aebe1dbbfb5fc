import {
  type ASTNode,
  type ASTVisitor,
  BREAK,
  type DocumentNode,
  type GraphQLSchema,
  getNamedType,
  isNonNullType,
  isScalarType,
  Kind,
  TypeInfo,
  visit,
  visitWithTypeInfo,
} from 'graphql'

/**
 * Whether graphql-jit executes a document exactly as graphql-js does. It generates source text from the document, so
 * more than answers is at stake: strings among the arguments may end up as code, and fragments that spread each other
 * twice take forever. What remains is what applications send all day: plain selections, values in variables.
 */
export function isCompilable(schema: GraphQLSchema, document: DocumentNode): boolean {
  const types = new TypeInfo(schema)
  const required = new Set<string>()
  let topLevel = 0
  let nonNull = false
  let compilable = true
  const refuse = () => {
    compilable = false
    return BREAK
  }
  const rules: ASTVisitor = {
    // The text of an argument goes through a search and replace on its way into the source.
    StringValue: refuse,
    FragmentSpread: refuse,
    // The condition on one spread or field is applied to others too.
    Directive: refuse,
    // `__proto__` is special in an object literal; introspection need not be fast.
    Name: ({ value }) => (value.startsWith('__') && value !== '__typename' ? refuse() : undefined),
    Field({ alias }) {
      if (types.getParentType() === schema.getQueryType()) {
        topLevel++
        nonNull ||= isNonNullType(types.getType())
      }
      // Fields are identified by their paths joined with underscores.
      return alias?.value.includes('_') ? refuse() : undefined
    },
    VariableDefinition({ type, variable }) {
      if (type.kind === Kind.NON_NULL_TYPE) required.add(variable.name.value)
    },
    // Variables inside a JSON literal are lost.
    ObjectValue: () => (isScalarType(getNamedType(types.getInputType())) ? refuse() : undefined),
    // An omitted variable becomes null there, which erases what should be left alone.
    Variable: ({ name }, _key, parent) =>
      isLiteral(parent) && !required.has(name.value) ? refuse() : undefined,
  }
  visit(document, visitWithTypeInfo(types, rules))
  // When one failing field nulls the whole answer, graphql-js does not wait for others that may fail.
  return compilable && !(nonNull && topLevel > 1)
}

function isLiteral(parent: ASTNode | readonly ASTNode[] | undefined): boolean {
  // The values of a list literal arrive as an array, without the list.
  return parent !== undefined && ('kind' in parent ? parent.kind === Kind.OBJECT_FIELD : true)
}
