import { join } from 'node:path'
import ts from 'typescript'
import { beforeAll, describe, expect, it } from 'vitest'
import { run, SDK } from './support/packed.ts'

const ENTRIES = ['node', 'browser', 'react', 'openfeature/server', 'openfeature/web', 'webhooks']
const TYPES = join(SDK, 'dist/esm')

let checker: ts.TypeChecker
let program: ts.Program
beforeAll(async () => {
  await run(process.execPath, ['build.mjs', '--if-stale'], { cwd: SDK })
  const files = ENTRIES.map((entry) => join(TYPES, `${entry}.d.ts`))
  program = ts.createProgram(files, {
    module: ts.ModuleKind.NodeNext,
    target: ts.ScriptTarget.ES2022,
    skipLibCheck: true,
    types: ['node'],
    typeRoots: [join(SDK, '../node_modules/@types')],
  })
  checker = program.getTypeChecker()
})

/** Every exported symbol of an entry, and every member that is declared in this package. */
function exportedBy(entry: string): { name: string; symbol: ts.Symbol }[] {
  const file = program.getSourceFile(join(TYPES, `${entry}.d.ts`))
  const module = file && checker.getSymbolAtLocation(file)
  if (!module) throw new Error(`no types for ${entry}`)
  return checker.getExportsOfModule(module).flatMap((exported) => {
    const symbol = exported.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(exported) : exported
    return [{ name: symbol.name, symbol }, ...membersOf(symbol)]
  })
}

function membersOf(symbol: ts.Symbol): { name: string; symbol: ts.Symbol }[] {
  return (symbol.declarations ?? [])
    .filter((node) => ts.isInterfaceDeclaration(node) || ts.isClassDeclaration(node))
    .flatMap((node) => [...node.members])
    .filter((member) => !isPrivate(member))
    .map((member) => ({
      name: `${symbol.name}.${member.name?.getText() ?? ts.SyntaxKind[member.kind]}`,
      symbol: (member as ts.ClassElement & { symbol: ts.Symbol }).symbol,
    }))
}

const isPrivate = (member: ts.ClassElement | ts.TypeElement): boolean =>
  member.name?.kind === ts.SyntaxKind.PrivateIdentifier ||
  (ts.canHaveModifiers(member) &&
    (ts.getModifiers(member) ?? []).some(({ kind }) => kind === ts.SyntaxKind.PrivateKeyword))

/** A member that its base documents needs no words of its own. */
const text = ({ symbol }: { symbol: ts.Symbol }): string =>
  ts.displayPartsToString(symbol.getDocumentationComment(checker))

const tagsOf = (symbol: ts.Symbol): string[] => symbol.getJsDocTags(checker).map(({ name }) => name)

describe('what an editor shows', () => {
  it.each(ENTRIES)('of %s: everything that is exported is documented, with its members', (entry) => {
    const exported = exportedBy(entry)
    expect(exported.length).toBeGreaterThan(3)
    expect(exported.filter((one) => text(one) === '').map(({ name }) => name)).toEqual([])
  })

  /** What a caller may leave out; what an answer may leave out has no default. */
  const OPTIONS =
    /(Options|Input|Arguments|Props|Paging|PageSize|Option|Answers|Entitlement|Features|Fallback|Details)\./

  it.each(ENTRIES)('of %s: every option names its default', (entry) => {
    const optional = exportedBy(entry).filter(
      ({ name, symbol }) => OPTIONS.test(name) && symbol.flags & ts.SymbolFlags.Optional,
    )
    const silent = optional.filter(
      ({ symbol, name }) => !tagsOf(symbol).includes('default') && !/\.children$/.test(name),
    )
    expect(silent.map(({ name }) => name)).toEqual([])
    expect(optional.length).toBeGreaterThan(0)
  })
})
