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
 * Whether graphql-jit executes a document exactly as graphql-js does. It generates source code from the document:
 * strings among the arguments may end up as code, and fragments that spread each other twice take forever. What remains
 * is what applications usually send: plain selections, values in variables.
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
    // graphql-jit applies a search and replace to the text of an argument.
    StringValue: refuse,
    FragmentSpread: refuse,
    // graphql-jit applies the condition of one spread or field to others too.
    Directive: refuse,
    // `__proto__` is special in an object literal. Introspection need not be fast.
    Name: ({ value }) => (value.startsWith('__') && value !== '__typename' ? refuse() : undefined),
    Field({ alias }) {
      if (types.getParentType() === schema.getQueryType()) {
        topLevel++
        nonNull ||= isNonNullType(types.getType())
      }
      // graphql-jit identifies fields by their paths joined with underscores.
      return alias?.value.includes('_') ? refuse() : undefined
    },
    VariableDefinition({ type, variable }) {
      if (type.kind === Kind.NON_NULL_TYPE) required.add(variable.name.value)
    },
    // graphql-jit loses variables inside a JSON literal.
    ObjectValue: () => (isScalarType(getNamedType(types.getInputType())) ? refuse() : undefined),
    // graphql-jit turns an omitted variable into null, which clears a value that should not change.
    Variable: ({ name }, _key, parent) =>
      isLiteral(parent) && !required.has(name.value) ? refuse() : undefined,
  }
  visit(document, visitWithTypeInfo(types, rules))
  // If one failing field nulls the whole response, graphql-js does not wait for others that may fail.
  return compilable && !(nonNull && topLevel > 1)
}

function isLiteral(parent: ASTNode | readonly ASTNode[] | undefined): boolean {
  // The values of a list literal arrive as an array, without the list.
  return parent !== undefined && ('kind' in parent ? parent.kind === Kind.OBJECT_FIELD : true)
}
