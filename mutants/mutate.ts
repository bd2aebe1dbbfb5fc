import ts from 'typescript'
import type { Mutant } from './mutant.ts'
import { changesAt, isIrrelevant } from './operators.ts'

/** Every mutant of a source file, in the order of the code. */
export function mutantsOf(path: string, text: string): Mutant[] {
  const file = ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true)
  const mutants = new Map<string, Mutant>()
  const visit = (node: ts.Node): void => {
    if (isIrrelevant(node, file)) return
    for (const { start, end, becomes } of changesAt(node, file)) {
      const was = text.slice(start, end)
      const line = file.getLineAndCharacterOfPosition(start).line + 1
      if (was !== becomes) mutants.set(`${start} ${end} ${becomes}`, { path, line, start, end, was, becomes })
    }
    ts.forEachChild(node, visit)
  }
  visit(file)
  return [...mutants.values()]
}
