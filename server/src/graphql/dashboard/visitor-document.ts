import { type DocumentNode, Kind, OperationTypeNode, type SelectionSetNode } from 'graphql'
import { MAX_VISITOR_TOKENS } from '../../domain/limits.ts'
import { isForVisitors, notSignedIn } from '../../operations/call/member-operations.ts'
import { tokensOf } from '../engine/executable.ts'

/**
 * Refuses whatever somebody who has not signed in to the dashboard may not ask, all of it alike: nothing is learned of the
 * schema that way. Top-level fields are looked at by name alone, wherever in the document they stand.
 */
export function admitVisitor(document: DocumentNode): void {
  if (tokensOf(document) > MAX_VISITOR_TOKENS) throw notSignedIn()
  for (const definition of document.definitions) {
    // A fragment may stand anywhere; what signing in takes needs none.
    if (definition.kind !== Kind.OPERATION_DEFINITION) throw notSignedIn()
    const kind = definition.operation === OperationTypeNode.MUTATION ? 'mutation' : 'query'
    if (definition.operation === OperationTypeNode.SUBSCRIPTION) throw notSignedIn()
    checkFields(kind, definition.selectionSet)
  }
}

function checkFields(kind: 'query' | 'mutation', { selections }: SelectionSetNode): void {
  for (const node of selections) {
    if (node.kind !== Kind.FIELD || !isForVisitors(kind, node.name.value)) throw notSignedIn()
  }
}
