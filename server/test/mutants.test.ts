import { readFileSync } from 'node:fs'
import { afterAll, describe, expect, it } from 'vitest'
import { explanationOf } from '../../mutants/explained.ts'
import { Judge } from '../../mutants/judge.ts'
import { applied, type Mutant, shown } from '../../mutants/mutant.ts'
import { mutantsOf } from '../../mutants/mutate.ts'
import { TestPicker } from '../../mutants/tests-of.ts'

const changesOf = (code: string): string[] =>
  mutantsOf('sample.ts', code).map(({ was, becomes }) => `${shown(was)} -> ${shown(becomes)}`)

describe('the mutants of a piece of code', () => {
  const CASES: [code: string, changes: string[]][] = [
    ['if (a < b) c()', ['a < b -> true', 'a < b -> false', '< -> <=', 'c() -> ;']],
    ['const x = a === b', ['=== -> !==']],
    ['const x = a && b', ['a && b -> a', 'a && b -> b']],
    ['const x = a ?? b', ['a ?? b -> a', 'a ?? b -> b']],
    ['const x = !a', ['!a -> a']],
    ['const x = a ? b : c', ['a -> true', 'a -> false']],
    ['const x = 7', ['7 -> 8', '7 -> 6']],
    ['const x = 0', ['0 -> 1']],
    ['const x = a + b', ['+ -> -']],
    ["const x = a + 'b'", []],
    ['const x = [a, b]', ['[a, b] -> []']],
    ['const x = Math.min(a, b)', ['min -> max']],
    ['const x = a.filter(b)', ['a.filter(b) -> a']],
    ['f(a, { b: true, c })', ['f(a, { b: true, c }) -> ;', 'b: true, -> ', 'true -> false']],
    ["throw new Error('1' + a)", []],
    ['type A = { b: true }', []],
  ]
  it.each(CASES)('%s', (code, changes) => {
    expect(changesOf(code)).toEqual(changes)
  })

  it('leave out one predicate of a statement each, and keep its parameters', () => {
    expect(
      changesOf('const x = `select a from t where app_id = $1 and (b = $2 or c < $3) order by d desc`'),
    ).toEqual([
      'app_id = $1 -> (app_id = $1 or true)',
      '(b = $2 or c < $3) -> ((b = $2 or c < $3) or true)',
      '< -> <=',
      'desc -> asc',
    ])
    // Written so that it is no template of this file.
    const KEY = '$' + '{KEY}'
    const withPart = `const x = \`update t set a = least(a, $1) where ${KEY} = any($2) and b is null returning c\``
    expect(changesOf(withPart)).toEqual([
      `${KEY} = any($2) -> (${KEY} = any($2) or true)`,
      'b is null -> (b is null or true)',
      'is null -> is not null',
      'least( -> greatest(',
    ])
    expect(changesOf("const x = 'where to go and what to see'")).toEqual([])
  })

  it('are put in their place and nowhere else', () => {
    const code = 'const a = 1\nconst b = 1\n'
    expect(mutantsOf('sample.ts', code).map((mutant) => [mutant.line, applied(code, mutant)])).toEqual([
      [1, 'const a = 2\nconst b = 1\n'],
      [1, 'const a = 0\nconst b = 1\n'],
      [2, 'const a = 1\nconst b = 2\n'],
      [2, 'const a = 1\nconst b = 0\n'],
    ])
  })

  it('are explained by the same change on the same line', () => {
    const code = 'const a = 1\nconst b = 1\n'
    const [first, , second] = mutantsOf('sample.ts', code) as [Mutant, Mutant, Mutant]
    const explanation = {
      path: 'sample.ts',
      line: 'const a = 1',
      was: '1',
      becomes: '2',
      why: 'nobody reads it',
    }
    expect(explanationOf(first, code, [explanation])).toBe(explanation)
    expect(explanationOf(second, code, [explanation])).toBeNull()
  })
})

describe('a run against a mutant', () => {
  const ROOT = new URL('../../', import.meta.url)
  const path = 'server/src/domain/url.ts'
  const text = readFileSync(new URL(path, ROOT), 'utf8')
  const [beside = [], others = []] = new TestPicker(ROOT.pathname).roundsFor(path)
  const judge = new Judge('postgresql://nowhere.invalid/')
  afterAll(() => judge.stop())

  it('finds the tests that reach the file, the one beside it first', () => {
    expect(beside).toEqual(['server/src/domain/url.test.ts'])
    expect(others).toContain('server/src/domain/redirect.test.ts')
    expect(others).not.toContain('server/src/domain/card.test.ts')
  })

  it('tells who was noticed, who was not and who hangs, and leaves the file as it is', async () => {
    const trial = (changed: string) => ({ file: path, text: changed, tests: beside })
    const none = 'export const parseUrl = () => null\n'
    const endless = `while (true);\n${text}`
    const trials = [text, none, endless, text].map(trial)
    expect(await judge.judge([...trials, { ...trial(''), file: null }], 3_000)).toEqual([
      'survived',
      { killedBy: expect.stringContaining(`${beside[0]} > `) },
      'timed out',
      'survived',
      'survived',
    ])
    expect(readFileSync(new URL(path, ROOT), 'utf8')).toBe(text)
  })
})
