import {
  type ASTVisitor,
  type FragmentDefinitionNode,
  GraphQLError,
  Kind,
  type SelectionSetNode,
  type ValidationContext,
} from 'graphql'
import { MAX_ALIASES, MAX_DEPTH, MAX_ROOT_FIELDS } from '../domain/limits.ts'

/** What one operation may ask for at most, fragments counted where they are spread. */
export function DocumentLimitsRule(context: ValidationContext): ASTVisitor {
  return {
    OperationDefinition(operation) {
      const count = measure(operation.selectionSet, context)
      const refuse = (message: string) => context.reportError(new GraphQLError(message, { nodes: operation }))
      if (count.depth > MAX_DEPTH) refuse(`The operation is nested deeper than ${MAX_DEPTH} levels`)
      if (count.aliases > MAX_ALIASES) refuse(`The operation uses more than ${MAX_ALIASES} aliases`)
      if (count.rootFields > MAX_ROOT_FIELDS) {
        refuse(`The operation has more than ${MAX_ROOT_FIELDS} top-level fields`)
      }
    },
  }
}

interface Count {
  depth: number
  aliases: number
  rootFields: number
}

function measure(root: SelectionSetNode, context: ValidationContext): Count {
  // A fragment is measured once and its figures are used again, or a chain of fragments that each spread the next
  // one twice would take forever. A cycle, refused by another rule, counts as nothing here.
  const measured = new Map<FragmentDefinitionNode, Count>()

  function visit(set: SelectionSetNode): Count {
    const count = { depth: 0, aliases: 0, rootFields: 0 }
    for (const node of set.selections) {
      if (node.kind === Kind.FIELD) {
        const inner = node.selectionSet ? visit(node.selectionSet) : { depth: 0, aliases: 0 }
        count.depth = Math.max(count.depth, inner.depth + 1)
        count.aliases += inner.aliases + (node.alias ? 1 : 0)
        count.rootFields += 1
      } else {
        const inner = node.kind === Kind.INLINE_FRAGMENT ? visit(node.selectionSet) : spread(node.name.value)
        count.depth = Math.max(count.depth, inner.depth)
        count.aliases += inner.aliases
        count.rootFields += inner.rootFields
      }
    }
    return count
  }

  function spread(name: string): Count {
    const fragment = context.getFragment(name)
    if (!fragment) return { depth: 0, aliases: 0, rootFields: 0 }
    const known = measured.get(fragment)
    if (known) return known
    measured.set(fragment, { depth: 0, aliases: 0, rootFields: 0 })
    const count = visit(fragment.selectionSet)
    measured.set(fragment, count)
    return count
  }

  return visit(root)
}
