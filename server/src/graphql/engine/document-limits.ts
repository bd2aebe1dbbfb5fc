import {
  type ASTVisitor,
  type FragmentDefinitionNode,
  GraphQLError,
  Kind,
  type SelectionSetNode,
  type ValidationContext,
  type ValidationRule,
} from 'graphql'
import { MAX_ALIASES, MAX_DEPTH, MAX_INTROSPECTION_COST, MAX_ROOT_FIELDS } from '../../domain/limits.ts'
import { costOfField, isComposite, type Parent } from './field-cost.ts'

/** Limits of one API, in addition to the common ones. */
export interface DocumentLimits {
  cost: number
  /** expensive top-level fields, at most one per operation */
  once?: ReadonlySet<string>
}

/** Limits an operation. Fragments count wherever they are spread. */
export function documentLimitsRule({ cost: maxCost, once }: DocumentLimits): ValidationRule {
  return (context: ValidationContext): ASTVisitor => ({
    OperationDefinition(operation) {
      const root = context.getSchema().getRootType(operation.operation)
      const count = measure(operation.selectionSet, root ?? null, context, once)
      const refuse = (message: string) => context.reportError(new GraphQLError(message, { nodes: operation }))
      if (count.depth > MAX_DEPTH) refuse(`The operation is nested deeper than ${MAX_DEPTH} levels`)
      if (count.aliases > MAX_ALIASES) refuse(`The operation uses more than ${MAX_ALIASES} aliases`)
      if (count.rootFields > MAX_ROOT_FIELDS) {
        refuse(`The operation has more than ${MAX_ROOT_FIELDS} top-level fields`)
      }
      if (count.cost > maxCost) refuse(tooMuch('', count.cost, maxCost))
      if (count.introspection > MAX_INTROSPECTION_COST) {
        refuse(tooMuch(' (introspection)', count.introspection, MAX_INTROSPECTION_COST))
      }
      if (count.onlyOnce > 1) refuse('An operation can sign in or set a password only once')
    },
  })
}

const tooMuch = (of: string, cost: number, most: number): string =>
  `The operation is too expensive${of}: its cost is ${cost}, the maximum is ${most}. Split it into several operations.`

interface Count {
  depth: number
  aliases: number
  rootFields: number
  cost: number
  introspection: number
  onlyOnce: number
}

const NOTHING: Readonly<Count> = {
  depth: 0,
  aliases: 0,
  rootFields: 0,
  cost: 0,
  introspection: 0,
  onlyOnce: 0,
}

function measure(
  root: SelectionSetNode,
  rootType: Parent,
  context: ValidationContext,
  once: ReadonlySet<string> | undefined,
): Count {
  // Each fragment is measured once. Otherwise a chain of fragments that each spread the next one twice would take
  // forever. A cycle, rejected by another rule, counts as nothing.
  const measured = new Map<FragmentDefinitionNode, Count>()

  function visit(set: SelectionSetNode, parent: Parent): Count {
    const count = { ...NOTHING }
    for (const node of set.selections) {
      if (node.kind === Kind.FIELD) {
        const name = node.name.value
        const { own, times, introspects, type } = costOfField(parent, name, rootType, context.getSchema())
        const inner = node.selectionSet ? visit(node.selectionSet, type) : NOTHING
        count.depth = Math.max(count.depth, inner.depth + 1)
        count.aliases += inner.aliases + (node.alias ? 1 : 0)
        count.rootFields += 1
        if (introspects) count.introspection += own + times * (inner.cost + inner.introspection)
        else {
          count.cost += own + times * inner.cost
          count.introspection += times * inner.introspection
        }
        if (once?.has(name)) count.onlyOnce += 1
      } else {
        const inner = node.kind === Kind.INLINE_FRAGMENT ? inline(node, parent) : spread(node.name.value)
        count.depth = Math.max(count.depth, inner.depth)
        count.aliases += inner.aliases
        count.rootFields += inner.rootFields
        count.cost += inner.cost
        count.introspection += inner.introspection
        count.onlyOnce += inner.onlyOnce
      }
    }
    return count
  }

  function inline(
    {
      typeCondition,
      selectionSet,
    }: { typeCondition?: { name: { value: string } }; selectionSet: SelectionSetNode },
    parent: Parent,
  ): Count {
    return visit(selectionSet, typeCondition ? typeNamed(typeCondition.name.value) : parent)
  }

  function typeNamed(name: string): Parent {
    const type = context.getSchema().getType(name)
    return isComposite(type) ? type : null
  }

  function spread(name: string): Count {
    const fragment = context.getFragment(name)
    if (!fragment) return NOTHING
    const known = measured.get(fragment)
    if (known) return known
    measured.set(fragment, NOTHING)
    const count = visit(fragment.selectionSet, typeNamed(fragment.typeCondition.name.value))
    measured.set(fragment, count)
    return count
  }

  return visit(root, rootType)
}
