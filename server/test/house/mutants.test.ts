import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { transformSync } from 'esbuild'
import { afterAll, describe, expect, it } from 'vitest'
import { Coverage } from '../../../mutants/coverage.ts'
import { explanationOf } from '../../../mutants/explained.ts'
import { Judge } from '../../../mutants/judge.ts'
import { applied, type Mutant, type Numbered, shown } from '../../../mutants/mutant.ts'
import { mutantsOf } from '../../../mutants/mutate.ts'
import { readOptions } from '../../../mutants/options.ts'
import { markdown } from '../../../mutants/report.ts'
import { readSources } from '../../../mutants/sources.ts'
import { switched } from '../../../mutants/switches.ts'
import type { Done, Trial } from '../../../mutants/test-process.ts'

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
    ['const x = a.toString()', []],
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
    expect(changesOf("const x = 'and b = 1'")).toEqual(['b = 1 -> (b = 1 or true)'])
    // Without its beginning, the rest of a case would not parse.
    expect(changesOf('const x = `and case when a = b then c else d end`')).toEqual([
      'a = b -> (a = b or true)',
    ])
    const nested = `const x = \`select a $${'{'}f({}, 'and c = 1')} where b = 2\``
    expect(changesOf(nested)).toEqual(['b = 2 -> (b = 2 or true)', 'c = 1 -> (c = 1 or true)'])
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
  const ROOT = new URL('../../../', import.meta.url)
  const path = 'server/src/domain/url.ts'
  const test = 'server/src/domain/url.test.ts'
  const text = readFileSync(new URL(path, ROOT), 'utf8')
  const source = readSources(ROOT.pathname).find((one) => one.path === path)
  const judge = new Judge('postgresql://nowhere.invalid/')
  afterAll(() => judge.stop())
  const trial = (mutant: Trial['mutant']): Trial => ({ test, mutant, last: 1_000 })
  const copy = (changed: string) => trial({ file: path, text: changed })
  const passed = expect.objectContaining({ failed: null })
  const noticed = expect.objectContaining({ failed: expect.stringContaining(`${test} > `) })

  it('tells who was noticed, who was not and who hangs, and leaves the file as it is', async () => {
    const trials = [text, 'export const parseUrl = () => null\n', `while (true);\n${text}`, text].map(copy)
    expect(await judge.judge([...trials, trial(null)], 3_000)).toEqual([
      passed,
      noticed,
      'timed out',
      passed,
      passed,
    ])
    expect(readFileSync(new URL(path, ROOT), 'utf8')).toBe(text)
  })

  it('switches one mutant on at a time, and knows which tests come past it', async () => {
    const mutants = source?.mutants ?? []
    const verdicts = await judge.judge([null, ...mutants.map(({ number }) => number), null].map(trial), 3_000)
    const covered = (verdicts[0] as Done).covered.map(({ number }) => number)
    expect(covered).toEqual(mutants.map(({ number }) => number))
    expect(verdicts.map((one) => one === 'timed out' || one.failed !== null)).toEqual([
      false,
      ...mutants.map(() => true),
      false,
    ])
  })
})

describe('switches', () => {
  const on = (code: string, number: number): unknown => {
    const mutants = mutantsOf('sample.ts', code).map((mutant, at) => ({ ...mutant, number: at + 1 }))
    const { text } = switched('sample.ts', code, mutants)
    const { code: js } = transformSync(text, { loader: 'ts' })
    return new Function('globalThis', `${js}; return f`)({ __mutantIsOn: (n: number) => n === number })
  }
  const CASES: [code: string, results: unknown[]][] = [
    ['function f(a: number) { return a < 2 ? 5 : 7 }', [7, 5, 7, 5, 5, 7, 7, 7, 8, 6]],
    ['function f() { const x = { a: 1 }; Object.assign(x, { a: 3 }); return x.a }', [3, 3, 3, 1, 1, 4, 2]],
    ['function f() { return [4, 9].filter((n) => n > 4).length }', [1, 2, 0, 2, 1, 1, 1, 2, 1, 2]],
  ]
  it.each(CASES)('%s', (code, results) => {
    const calls = results.map((_, number) => (on(code, number) as (a: number) => unknown)(2))
    expect(calls).toEqual(results)
  })
})

describe('the tests that are run against a mutant', () => {
  const root = mkdtempSync(join(tmpdir(), 'tollgate-mutants-'))
  afterAll(() => rmSync(root, { recursive: true }))
  const text = 'const bound = 7\nexport function f(a: number) { return a < bound }\n'
  const mutants = mutantsOf('f.ts', text).map((mutant, at) => ({ ...mutant, number: at + 1 }))
  const [more, , other] = mutants as [Numbered, Numbered, Numbered]
  const coverage = new Coverage(root, join(root, 'coverage.json'), [{ path: 'f.ts', text, mutants }])
  const ran = (test: string, ms: number, last: number, failed: string | null = null) => {
    writeFileSync(join(root, test), test)
    const covered = last === 0 ? [] : [{ number: other.number, last, tests: 1, onLoading: false }]
    coverage.note(test, { failed, ms, covered })
  }
  ran('slow.test.ts', 9_000, 5)
  ran('quick.test.ts', 100, 2)
  ran('elsewhere.test.ts', 10, 0)
  ran('red.test.ts', 1, 1, 'it fails')

  it('come past it and pass without it, the quickest first, and no further than they need to', () => {
    expect(coverage.trialsOf(other, 'first')).toEqual([
      { test: 'quick.test.ts', mutant: other.number, last: 2 },
      { test: 'slow.test.ts', mutant: other.number, last: 5 },
    ])
  })

  it('are all that use its file, with a copy of it, where it acts on loading', () => {
    const copy = { file: 'f.ts', text: text.replace('7', '8') }
    expect(coverage.trialsOf(more, 'first').map(({ test, mutant }) => [test, mutant])).toEqual([
      ['quick.test.ts', copy],
      ['slow.test.ts', copy],
    ])
  })

  it('are as many as take 30 seconds, and more where it has survived before', () => {
    const own = new Coverage(root, join(root, 'own.json'), [{ path: 'f.ts', text, mutants }])
    const covered = [{ number: other.number, last: 1, tests: 1, onLoading: false }]
    for (const name of 'abcdef') {
      writeFileSync(join(root, `${name}.test.ts`), name)
      own.note(`${name}.test.ts`, { failed: null, ms: 8_000, covered })
    }
    expect(own.trialsOf(other, 'first')).toHaveLength(3)
    expect(own.trialsOf(other, 'again')).toHaveLength(6)
  })

  it('are known from run to run, until they change', () => {
    coverage.save()
    const again = new Coverage(root, join(root, 'coverage.json'), [{ path: 'f.ts', text, mutants }])
    expect(again.isKnown('quick.test.ts')).toBe(true)
    expect(again.trialsOf(other, 'first')).toEqual(coverage.trialsOf(other, 'first'))
    writeFileSync(join(root, 'quick.test.ts'), 'changed')
    expect(again.isKnown('quick.test.ts')).toBe(false)
  })
})

describe('the report', () => {
  const mutant = (path: string, line: number): Mutant => ({
    path,
    line,
    start: line,
    end: line,
    was: 'a',
    becomes: 'b',
  })
  const [period, sign] = ['server/src/domain/period.ts', 'server/src/billing/signature.ts']
  const reportOf = (args: string[], dirty = false) => {
    const options = readOptions(['--seed', '7', ...args])
    if (!options) throw new Error('no options')
    return markdown({
      commit: { hash: 'f'.repeat(40), dirty },
      options,
      seconds: 61,
      possible: new Map([
        [period, 1_500],
        [sign, 3],
        ['server/src/store/users/users.ts', 40],
      ]),
      findings: [
        { finding: { mutant: mutant(period, 1), verdict: 'survived' }, explained: true },
        { finding: { mutant: mutant(period, 2), verdict: 'survived' }, explained: false },
        { finding: { mutant: mutant(period, 3), verdict: 'timed out' }, explained: false },
        { finding: { mutant: mutant(period, 4), verdict: { killedBy: 'a test' } }, explained: false },
        { finding: { mutant: mutant(sign, 1), verdict: { killedBy: 'a test' } }, explained: false },
      ],
    })
  }

  it('says how many of all were tried, and never a share of them', () => {
    const text = reportOf([])
    expect(text).toContain('| domain | 4 of 1,500 tried, 2 survived | 1 | 1 | 1 | 1 |\n')
    expect(text).toContain('| billing | 1 of 3 tried, 0 survived | 1 | 0 | 0 | 0 |\n')
    expect(text).toContain('| store | 0 of 40 tried, 0 survived | 0 | 0 | 0 | 0 |\n')
    expect(text).not.toContain('%')
  })

  it('lists the survivors that nobody has explained', () => {
    const [, survivors] = reportOf([]).split('## Unexplained survivors\n')
    expect(survivors).toBe('\n`server/src/domain/period.ts`\n\n- line 2: `a` → `b`\n')
  })

  it('names one commit, and what was chosen', () => {
    const text = reportOf(['--unit', '--only', 'domain'], true)
    expect(text).toContain(`- **commit**: ${'f'.repeat(40)} with uncommitted changes\n`)
    expect(text).toContain('- **sources**: `server/src/domain`\n')
    expect(text).toContain('- **tests**: tests without a database; only mutants that they reach\n')
  })

  it('is not written about mutants that are no random sample', () => {
    expect(readOptions([])?.write).toBe(true)
    expect(readOptions(['--no-write'])?.write).toBe(false)
    expect(readOptions(['--continue'])?.write).toBe(false)
  })
})
