import ts from 'typescript'
import type { Change } from './mutant.ts'
import { isSql, sqlChanges } from './sql.ts'

const K = ts.SyntaxKind

/** A bound that is off by one, or a comparison turned round. */
const COMPARISONS: Partial<Record<ts.SyntaxKind, string>> = {
  [K.LessThanToken]: '<=',
  [K.LessThanEqualsToken]: '<',
  [K.GreaterThanToken]: '>=',
  [K.GreaterThanEqualsToken]: '>',
  [K.EqualsEqualsEqualsToken]: '!==',
  [K.ExclamationEqualsEqualsToken]: '===',
}

const ARITHMETIC: Partial<Record<ts.SyntaxKind, string>> = {
  [K.PlusToken]: '-',
  [K.MinusToken]: '+',
  [K.AsteriskToken]: '/',
  [K.SlashToken]: '*',
  [K.PercentToken]: '*',
  [K.PlusEqualsToken]: '-=',
  [K.MinusEqualsToken]: '+=',
}

/** Either side alone. */
const LOGICAL = [K.AmpersandAmpersandToken, K.BarBarToken, K.QuestionQuestionToken]

const METHODS = new Map([
  ['min', 'max'],
  ['max', 'min'],
  ['some', 'every'],
  ['every', 'some'],
  ['floor', 'ceil'],
  ['ceil', 'floor'],
  ['startsWith', 'endsWith'],
])

/** Calls that only pass on what they are called on, as far as types go. */
const DROPPED_CALLS = ['filter', 'sort', 'toSorted', 'reverse', 'toReversed', 'trim', 'toLowerCase', 'slice']

/** What can be changed at this node itself; its children have changes of their own. */
export function changesAt(node: ts.Node, file: ts.SourceFile): Change[] {
  const replace = (at: ts.Node, becomes: string): Change => ({
    start: at.getStart(file),
    end: at.end,
    becomes,
  })
  const textOf = (at: ts.Node) => at.getText(file)

  if (isText(node) && isSql(textOf(node))) {
    const start = node.getStart(file)
    return sqlChanges(textOf(node)).map((c) => ({ ...c, start: c.start + start, end: c.end + start }))
  }
  if (ts.isIfStatement(node)) return [replace(node.expression, 'true'), replace(node.expression, 'false')]
  if (ts.isConditionalExpression(node))
    return [replace(node.condition, 'true'), replace(node.condition, 'false')]
  if (ts.isBinaryExpression(node)) {
    const { left, right, operatorToken } = node
    const other = COMPARISONS[operatorToken.kind]
    if (other) return [replace(operatorToken, other)]
    if (LOGICAL.includes(operatorToken.kind))
      return [replace(node, textOf(left)), replace(node, textOf(right))]
    const opposite = ARITHMETIC[operatorToken.kind]
    const joins = [left, right].some(isText)
    return opposite && !joins ? [replace(operatorToken, opposite)] : []
  }
  if (ts.isPrefixUnaryExpression(node) && node.operator === K.ExclamationToken) {
    return [replace(node, textOf(node.operand))]
  }
  if (ts.isNumericLiteral(node)) {
    const value = Number(node.text)
    return [replace(node, `${value + 1}`), ...(value > 0 ? [replace(node, `${value - 1}`)] : [])]
  }
  if (node.kind === K.TrueKeyword) return [replace(node, 'false')]
  if (node.kind === K.FalseKeyword) return [replace(node, 'true')]
  if (ts.isArrayLiteralExpression(node) && node.elements.length > 0) return [replace(node, '[]')]
  if (ts.isExpressionStatement(node) || ts.isContinueStatement(node)) return [replace(node, ';')]
  if (ts.isCallExpression(node) && ts.isPropertyAccessExpression(node.expression)) {
    const { name, expression: on } = node.expression
    const swapped = METHODS.get(name.text)
    if (swapped) return [replace(name, swapped)]
    return DROPPED_CALLS.includes(name.text) ? [replace(node, textOf(on))] : []
  }
  // An option that is left out of a call.
  if (ts.isPropertyAssignment(node) && ts.isCallExpression(node.parent.parent)) {
    const comma = /^\s*,/.exec(file.text.slice(node.end))?.[0].length ?? 0
    return [{ start: node.getStart(file), end: node.end + comma, becomes: '' }]
  }
  return []
}

/** Types, imports, what is logged or said in an error: none of it decides anything. */
export function isIrrelevant(node: ts.Node, file: ts.SourceFile): boolean {
  if (ts.isImportDeclaration(node) || ts.isTypeNode(node)) return true
  if (ts.isInterfaceDeclaration(node) || ts.isTypeAliasDeclaration(node)) return true
  if (ts.isThrowStatement(node)) return true
  return ts.isExpressionStatement(node) && /^(service\.)?(log|metrics)\b/.test(node.getText(file))
}

const isText = (node: ts.Node): boolean =>
  ts.isStringLiteral(node) || ts.isNoSubstitutionTemplateLiteral(node) || ts.isTemplateExpression(node)
