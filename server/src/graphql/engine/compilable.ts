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
 * Whether graphql-jit executes a document as graphql-js does. It writes source text from the document, so that not
 * only the answers are at stake: strings among the arguments may end up as code, and fragments that spread each
 * other twice take forever. What is left is what applications send all day: plain selections, values in variables.
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
    // The condition on one spread or field is taken for that of others, too.
    Directive: refuse,
    // `__proto__` is no key like any other in an object literal; introspection is nothing to hurry.
    Name: ({ value }) => (value.startsWith('__') && value !== '__typename' ? refuse() : undefined),
    Field({ alias }) {
      if (types.getParentType() === schema.getQueryType()) {
        topLevel++
        nonNull ||= isNonNullType(types.getType())
      }
      // Fields are told apart by their paths joined with an underscore.
      return alias?.value.includes('_') ? refuse() : undefined
    },
    VariableDefinition({ type, variable }) {
      if (type.kind === Kind.NON_NULL_TYPE) required.add(variable.name.value)
    },
    // Variables inside a JSON literal are lost.
    ObjectValue: () => (isScalarType(getNamedType(types.getInputType())) ? refuse() : undefined),
    // One that is left out becomes null there, which erases what is to be left alone.
    Variable: ({ name }, _key, parent) =>
      isLiteral(parent) && !required.has(name.value) ? refuse() : undefined,
  }
  visit(document, visitWithTypeInfo(types, rules))
  // Where one failing field empties the whole answer, graphql-js does not wait for what else may fail.
  return compilable && !(nonNull && topLevel > 1)
}

function isLiteral(parent: ASTNode | readonly ASTNode[] | undefined): boolean {
  // The values of a list come as an array, without the list.
  return parent !== undefined && ('kind' in parent ? parent.kind === Kind.OBJECT_FIELD : true)
}
