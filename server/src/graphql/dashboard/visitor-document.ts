import { type DocumentNode, Kind, OperationTypeNode, type SelectionSetNode } from 'graphql'
import { MAX_VISITOR_TOKENS } from '../../domain/limits.ts'
import { isForVisitors, notSignedIn } from '../../operations/call/roles.ts'
import { tokensOf } from '../engine/executable.ts'

/**
 * Rejects everything that a visitor who is not signed in may not request, always with the same message, so that the
 * schema is not revealed. Top-level fields are checked by name, anywhere in the document.
 */
export function admitVisitor(document: DocumentNode): void {
  if (tokensOf(document) > MAX_VISITOR_TOKENS) throw notSignedIn()
  for (const definition of document.definitions) {
    // Signing in needs no fragments.
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
