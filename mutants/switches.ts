import ts from 'typescript'
import { applied, type Numbered } from './mutant.ts'

const K = ts.SyntaxKind

/** Said by every switched file where a mutant could act: whether it is the one that is on. */
const IS_ON = '__mutantIsOn'

interface Switched {
  text: string
  /** of the mutants that are in it */
  numbers: Set<number>
}

/**
 * A source file with all of these mutants in it, each behind a question that is asked when the code runs. So one copy of the
 * sources, loaded once, can be any of its mutants. Those that cannot be built in are left out.
 */
export function switched(path: string, text: string, mutants: readonly Numbered[]): Switched {
  const file = ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true)
  const places = new Map<ts.Node, Numbered[]>()
  for (const mutant of mutants) {
    const place = placeOf(mutant, file)
    if (place) places.set(place, [...(places.get(place) ?? []), mutant])
  }

  const render = (node: ts.Node): string => {
    const start = node.getStart(file)
    const own = places.get(node) ?? []
    const inner = text.slice(start, node.end)
    const edited = splice(inner, -start, childrenWithPlaces(node))
    const alternatives = own.map((mutant) => ({
      number: mutant.number,
      code: applied(inner, { ...mutant, start: mutant.start - start, end: mutant.end - start }),
    }))
    if (ts.isStatement(node)) {
      const chain = alternatives.map(({ number, code }) => `if (${IS_ON}(${number})) {${code}} else `)
      return alternatives.length === 0 ? edited : `{ ${chain.join('')}{${edited}} }`
    }
    const chain = alternatives.map(({ number, code }) => `${IS_ON}(${number}) ? (${code}) : `)
    return alternatives.length === 0 ? edited : `(${chain.join('')}(${edited}))`
  }

  /** The nearest places below a node, in order. */
  const childrenWithPlaces = (node: ts.Node): ts.Node[] => {
    const found: ts.Node[] = []
    const visit = (child: ts.Node) => {
      if (places.has(child)) found.push(child)
      else ts.forEachChild(child, visit)
    }
    ts.forEachChild(node, visit)
    return found
  }

  const splice = (code: string, shift: number, nodes: readonly ts.Node[]): string => {
    let [result, at] = ['', 0]
    for (const node of nodes) {
      const start = node.getStart(file) + shift
      result += code.slice(at, start) + render(node)
      at = node.end + shift
    }
    return result + code.slice(at)
  }

  const probes = `function ${IS_ON}(n) { return globalThis.${IS_ON} !== undefined && globalThis.${IS_ON}(n) }`
  return {
    text: `${splice(text, 0, childrenWithPlaces(file))}\n${probes}\n`,
    numbers: new Set([...places.values()].flat().map(({ number }) => number)),
  }
}

/** The smallest piece of code around a mutant of which there can be two. Null: it is evaluated on loading, or there is none. */
function placeOf(mutant: Numbered, file: ts.SourceFile): ts.Node | null {
  let node: ts.Node = nodeAround(mutant, file)
  if (!isInFunction(node)) return null
  while (!isPlace(node)) {
    if (ts.isSourceFile(node) || ts.isFunctionLike(node)) return null
    node = node.parent
  }
  return node
}

function nodeAround({ start, end }: Numbered, file: ts.SourceFile): ts.Node {
  let found: ts.Node = file
  const visit = (node: ts.Node) => {
    if (node.getStart(file) > start || node.end < end) return
    found = node
    // A statement without a semicolon is as long as its expression, and it is the statement that can be left out.
    if (node.getStart(file) < start || node.end > end) ts.forEachChild(node, visit)
  }
  ts.forEachChild(file, visit)
  return found
}

/** Whether it runs when it is called, not when its file is loaded. */
function isInFunction(node: ts.Node): boolean {
  for (let at = node; !ts.isSourceFile(at); at = at.parent) {
    if (ts.isFunctionLike(at) && 'body' in at && at.body !== undefined) return true
  }
  return false
}

function isPlace(node: ts.Node): boolean {
  if (ts.isContinueStatement(node)) return true
  if (ts.isExpressionStatement(node)) return !isSuperCall(node.expression)
  if (!ts.isExpression(node) || ts.isSpreadElement(node) || isSuperCall(node)) return false
  const { parent } = node
  if (ts.isTaggedTemplateExpression(parent) || ts.isTypeNode(parent)) return false
  if (ts.isNewExpression(parent) && parent.expression === node) return false
  if ('name' in parent && parent.name === node) return false
  if (ts.isBinaryExpression(parent) && parent.left === node && isAssignment(parent)) return false
  // A method that is taken off its object is called without it.
  if (ts.isCallExpression(parent) && parent.expression === node && !ts.isCallExpression(node)) return false
  // Half of a chain with `?.` would not end where the whole one does.
  return !(ts.isOptionalChain(node) && ts.isOptionalChain(parent) && parent.expression === node)
}

const isSuperCall = (node: ts.Node): boolean =>
  ts.isCallExpression(node) && node.expression.kind === K.SuperKeyword

const isAssignment = ({ operatorToken }: ts.BinaryExpression): boolean =>
  operatorToken.kind >= K.FirstAssignment && operatorToken.kind <= K.LastAssignment
