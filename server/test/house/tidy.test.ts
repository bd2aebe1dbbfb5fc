import { existsSync, readFileSync } from 'node:fs'
import { dirname, join, relative, resolve, sep } from 'node:path'
import { describe, expect, it } from 'vitest'
import { EXTERNAL } from '../../bundle.ts'
import { EVERYTHING, filesIn, ROOT, type SourceFile } from '../harness/source-files.ts'
import { LONGER } from './long-files.ts'
import { isUnit, LONG, THOROUGH } from './projects.ts'

const SRC = join(ROOT, 'server/src')

const all = filesIn(ROOT)
const code = all.filter(({ path }) => path.endsWith('.ts'))
const tests = code.filter(({ path }) => path.endsWith('.test.ts') || path.startsWith('server/test/'))
const source = code.filter((file) => file.path.startsWith('server/src/') && !tests.includes(file))

describe('the house', () => {
  it('keeps the domain pure: it imports nothing but itself', () => {
    const impure = source
      .filter(({ path }) => folderOf(path) === 'domain')
      .flatMap((file) =>
        file.imports.filter(({ path }) => path === null).map(({ from }) => `${file.path}: ${from}`),
      )
    expect(impure).toEqual([])
  })

  it('reads the clock where a process begins', () => {
    const readers = source.filter(({ text }) => /\bDate\.now\b|\bnew Date\(\s*\)|[^.\w]Date\(\)/.test(text))
    expect(readers.map(({ path }) => path).sort()).toEqual(['server/src/cli/cli.ts', 'server/src/main.ts'])
  })

  it('reads the monotonic clock where a process begins', () => {
    const readers = source.filter(({ text }) => /\bperformance\b(?! of )|\bhrtime\b/.test(text))
    expect(readers.map(({ path }) => path).sort()).toEqual([
      'server/src/cli/cli.ts',
      'server/src/main.ts',
      'server/src/tools/data-tools.ts',
    ])
  })

  it('has no file above 300 lines without a reason', () => {
    const long = all.filter(({ path, text }) => /\.(ts|tsx|mjs)$/.test(path) && text.split('\n').length > 301)
    expect(long.map(({ path }) => path).sort()).toEqual(Object.keys(LONGER).sort())
  })

  it('writes SQL in the store alone', () => {
    /** Besides: the sandbox keeps books of its own, and what runs PostgreSQL sets up its roles and locks. */
    const ELSEWHERE =
      /^server\/src\/(store\/|embedded-postgres\/|billing\/sandbox\/(subscription-|payment-|erase-)?books\.ts$)/
    const statement =
      /\.query[<(]|[`'"]\s*(select\b|insert into|update \w+ (\w+ )?set|delete from|with \w+ as|begin\b|commit\b|rollback\b|savepoint\b|set local)/i
    const elsewhere = source.filter(({ path, text }) => !ELSEWHERE.test(path) && statement.test(text))
    expect(elsewhere.map(({ path }) => path)).toEqual([])
    // Nor does who answers requests hand connections around.
    const pools = source.filter(
      ({ path, text }) =>
        /\/(http|graphql)\//.test(path) &&
        /service\.pool\b|\{ pool[ ,][^}]*\} = |\b(lookups|longQueries)\b/.test(text),
    )
    expect(pools.map(({ path }) => path)).toEqual([])
    expect(source.filter(({ text }) => statement.test(text)).length).toBeGreaterThan(40)
  })

  it('has no file that neither the service nor its tools lead to', () => {
    const reached = new Set<string>()
    const visit = (path: string): void => {
      if (reached.has(path)) return
      reached.add(path)
      for (const next of source.find((file) => file.path === path)?.imports ?? [])
        if (next.path) visit(next.path)
    }
    for (const entry of ['main.ts', 'tools/data-tools.ts', 'cli/cli.ts']) visit(`server/src/${entry}`)
    expect(source.map(({ path }) => path).filter((path) => !reached.has(path))).toEqual([])
  })

  it('exports nothing that nobody imports', () => {
    const imported = new Set(
      code.flatMap((file) =>
        file.imports.flatMap(({ path, names }) => names.map((name) => `${path}: ${name}`)),
      ),
    )
    const exported = source.flatMap(({ path, text }) => exportsOf(text).map((name) => ({ path, name })))
    const dead = exported.filter(
      ({ path, name }) => !imported.has(`${path}: ${name}`) && !imported.has(`${path}: ${EVERYTHING}`),
    )
    expect(exported.length).toBeGreaterThan(100)
    expect(dead).toEqual([])
  })

  it('backs up every table that the migrations make', () => {
    const made = all
      .filter(({ path }) => path.startsWith('server/src/store/schema/migrations/'))
      .flatMap(({ text }) =>
        // A partition is backed up with its table.
        [...text.matchAll(/create table (?:if not exists )?(\w+?)(?:_\d+)?\b/g)].map(([, name]) => name),
      )
    const list = source.find(({ path }) => path === 'server/src/store/schema/tables.ts')?.text ?? ''
    const [, names = ''] = /const TABLES = \[([^\]]*)\]/.exec(list) ?? []
    // What is restored has one cell.
    const ofCells = ['cell', 'cell_bucket', 'user_billing_id', 'remote_work']
    expect(
      [...names.matchAll(/'(\w+)'/g), ...ofCells.map((name) => ['', name])].map(([, name]) => name).sort(),
    ).toEqual([...new Set(made)].sort())
  })

  it('keeps to one scale of distances in the pages', () => {
    const pages = all.filter(({ path }) => path.startsWith('dashboard/src/'))
    const strays = pages.flatMap(({ path, text }) => {
      const found = path.endsWith('.css')
        ? [...text.matchAll(/^ *(?:margin|padding|gap)[\w-]*: ([^;]+);/gm)].filter(([, value = '']) =>
            value
              .replaceAll(/calc\(-1 \* (var\([^)]+\))\)/g, '$1')
              .split(' ')
              .some((part) => /\d/.test(part) && !/^[012](px)?$/.test(part)),
          )
        : [...text.matchAll(/\b(?:gap|spacing|[mp][tblrxy]?)=\{-?[\d.]+\}/g)]
      return found.map(([stray]) => `${path}: ${stray.trim()}`)
    })
    expect(pages.filter(({ path }) => path.endsWith('.css')).length).toBeGreaterThan(3)
    expect(strays).toEqual([])
  })

  it('has the styles of every component of Mantine that a page shows', () => {
    const pages = all.filter(({ path }) => path.startsWith('dashboard/src/'))
    const styled = new Set(
      pages.flatMap(({ text }) =>
        [...text.matchAll(/@mantine\/core\/styles\/(\w+)\.css/g)].map(([, name]) => name),
      ),
    )
    const without = pages.flatMap(({ path, text }) =>
      (text.match(/import \{([^}]*)\} from '@mantine\/core'/)?.[1] ?? '')
        .split(',')
        .map((name) => name.trim())
        .filter((name) => !styled.has(name))
        .filter((name) => existsSync(join(ROOT, `node_modules/@mantine/core/styles/${name}.css`)))
        .map((name) => `${path}: ${name}`),
    )
    expect(without).toEqual([])
  })

  it('has no barrels, and no file whose name says nothing', () => {
    const vague = /(^|\/)(index|utils?|helpers?|common|misc|\w*-?(manager|util|helper)s?)\.(ts|tsx|mjs)$/
    expect(code.map(({ path }) => path).filter((path) => vague.test(path))).toEqual([])
    const barrels = source.filter(({ text }) => /^export (\*|\{[^}]*\}) from/m.test(text))
    expect(barrels.map(({ path }) => path)).toEqual([])
  })

  it('names the file in every relative import', () => {
    const unnamed = code.flatMap((file) =>
      file.imports
        .filter(({ from }) => from.startsWith('.') && !/\.(ts|tsx|mjs|js|json)$/.test(from))
        .map(({ from }) => `${file.path}: ${from}`),
    )
    expect(unnamed).toEqual([])
  })

  it('depends on what the server uses, no more and no less', () => {
    const { dependencies, devDependencies } = JSON.parse(
      readFileSync(join(ROOT, 'server/package.json'), 'utf8'),
    )
    // An installed package gets only those that the bundle does not contain.
    expect(Object.keys(dependencies).sort()).toEqual(EXTERNAL.toSorted())
    const known = Object.keys({ ...dependencies, ...devDependencies })
    const imported = source
      .flatMap((file) => file.imports.filter(({ path }) => path === null).map(({ from }) => packageOf(from)))
      .filter((name) => !name.startsWith('node:'))
    expect(imported.filter((name) => !known.includes(name))).toEqual([])
    // One is found by its name, not imported: it brings programs.
    const named = (name: string) => source.some(({ text }) => text.includes(`'${name}'`))
    const used = (name: string) => imported.includes(name) || named(name)
    expect(known.filter((name) => !used(name))).toEqual([])
  })

  it('leaves no test out', () => {
    const left = tests.filter(({ text }) => /\b(it|describe)\.(only|skip|todo)\b/.test(text))
    expect(left.map(({ path }) => path)).toEqual([])
  })

  it('starts no server, database or browser in a unit test', () => {
    const starters = [
      'node:child_process',
      'node:http',
      'node:net',
      'pg',
      'playwright-core',
      'server/src/service.ts',
      'server/src/embedded-postgres/start.ts',
    ]
    /** What a test leads to by way of other tests and of what they share. */
    const withShared = (file: SourceFile, seen: Set<SourceFile>): Set<SourceFile> => {
      if (seen.has(file)) return seen
      seen.add(file)
      for (const { path } of file.imports) {
        const next = code.find((other) => other.path === path)
        if (next && !/^\w+\/src\//.test(next.path)) withShared(next, seen)
      }
      return seen
    }
    const units = code.filter(({ path }) => isUnit(path))
    expect(units.length).toBeGreaterThan(30)
    const starting = units.flatMap((unit) =>
      [...withShared(unit, new Set())].flatMap(({ path, imports }) =>
        imports
          .filter((one) => starters.includes(one.path ?? one.from) || one.names.includes('inject'))
          .map((one) => `${unit.path}: ${path} imports ${one.from}`),
      ),
    )
    expect(starting).toEqual([])
  })

  it('lists no long or thorough test that is gone', () => {
    expect([...LONG, ...THOROUGH].filter((long) => !tests.some(({ path }) => path === long))).toEqual([])
  })

  it('mentions no path outside of the repository', () => {
    const outside = all.flatMap(({ path, text }) => {
      const leaving = [...text.matchAll(/(?:\.\.\/)+[\w.-]+/g)]
        .map(([mentioned]) => mentioned)
        .filter((mentioned) => relative(ROOT, resolve(ROOT, dirname(path), mentioned)).startsWith('..'))
      const absolute = [...text.matchAll(/(?<![\w.:/])\/(?:home|root|Users|work|mnt)\/\w+/g)].map(
        ([found]) => found,
      )
      return [...leaving, ...absolute].map((found) => `${path}: ${found}`)
    })
    expect(outside).toEqual([])
  })
})

/** The folder of server/src that a file belongs to. */
function folderOf(path: string): string {
  const [folder, file] = relative(SRC, join(ROOT, path)).split(sep)
  return file === undefined ? '.' : (folder ?? '.')
}

function exportsOf(text: string): string[] {
  const declarations = /^export (?:async )?(?:function\*?|const|let|class|interface|type|enum) (\w+)/gm
  return [...text.matchAll(declarations)].map(([, name = '']) => name)
}

/** `@scope/name/deep` is the package `@scope/name`. */
function packageOf(from: string): string {
  return from
    .split('/')
    .slice(0, from.startsWith('@') ? 2 : 1)
    .join('/')
}
