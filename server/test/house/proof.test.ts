import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { checkedOut, checkUnchanged, commitText } from '../../../bench/commit.ts'
import { buildService, ROOT } from '../../../proof/harness/build.ts'
import { readOptions } from '../../../proof/options.ts'
import { prove, resultOf, shareOf, type Verdict } from '../../../proof/prove.ts'
import { Random } from '../../../proof/random.ts'
import { findings, markdown, resultText } from '../../../proof/report.ts'
import type { Scenario } from '../../../proof/scenario.ts'
import { kills } from '../../../proof/scenarios/kills.ts'
import { races } from '../../../proof/scenarios/races.ts'
import { SCENARIOS } from '../../../proof/scenarios.ts'

// A short selection of `npm run proof`: each scenario does the least that it ever does.

const SEED = 11
const PATIENCE = { timeout: 180_000 }

const run = (scenario: Scenario, broken: boolean): Promise<Verdict> =>
  prove(scenario, {
    seed: SEED,
    seconds: broken ? 20 : 1,
    breakage: broken ? scenario.breakage : null,
    previous: null,
  })

describe('npm run proof, in short', () => {
  it(
    'gap: durability: kills: nothing is lost, doubled, over budget or left without an answer',
    PATIENCE,
    async () => {
      const verdict = await run(kills, false)
      expect(verdict.failure).toBeNull()
      expect(findings(verdict.trial, { all: false })).toBe('')
      expect(resultOf(verdict)).toBe('partial')
    },
  )

  it('a product that is broken on purpose turns its scenario red', PATIENCE, async () => {
    const verdict = await run(races, true)
    expect(verdict.failure).toBeNull()
    expect(verdict.trial.red).toBe(true)
    expect(resultOf(verdict)).toBe('detected')
  })

  /** A scenario of 10 steps that does so many, and finds so many faults. */
  const steps = (done: number, faults = 0, more: Partial<Scenario> = {}): Scenario => ({
    ...races,
    full: { steps: 10 },
    faults: ['lost'],
    async run(trial) {
      trial.count('steps', done)
      trial.fault('lost', 'an event', faults)
    },
    ...more,
  })
  const failing = steps(0, 0, { run: () => Promise.reject(new Error('a | b\rc')) })

  it.each([
    ['all steps', steps(10), false, 'holds', 1],
    ['more than all steps', steps(12), false, 'holds', 1],
    ['one step less', steps(9), false, 'partial', 0.9],
    ['no steps', steps(0), false, 'partial', 0],
    ['a fault at full size', steps(10, 1), false, 'red', 1],
    ['a fault before', steps(1, 1), false, 'red', 0.1],
    ['a failure', failing, false, 'red', 0],
    ['a broken product that is detected', steps(1, 1), true, 'detected', 0.1],
    ['a broken product that is not detected', steps(10), true, 'red', 1],
    ['a failure with a broken product', failing, true, 'red', 0],
  ] as const)('%s', async (_, scenario, broken, result, share) => {
    const verdict = await run(scenario, broken)
    expect(resultOf(verdict)).toBe(result)
    expect(shareOf(verdict)).toBeCloseTo(share)
  })

  it('the report is about one run of one commit, and names what was not run', async () => {
    const options = readOptions(['--seed', '3', '--seconds', '60'], [])
    if (!options) throw new Error('no options')
    const sound = await Promise.all([
      run(steps(10, 0, { name: 'kills', what: 'kill it' }), false),
      run(steps(3, 0, { name: 'races', full: { steps: 10, calls: 7 } }), false),
      run({ ...failing, name: 'network' }, false),
      run(steps(10, 0, { name: 'citus', unavailable: async () => 'needs a cluster' }), false),
    ])
    const broken = [
      await run(steps(5, 2, { name: 'kills' }), true),
      await run(steps(5, 0, { name: 'races' }), true),
    ]
    const commit = { hash: 'f'.repeat(40), dirty: false }
    const names = ['kills', 'network', 'citus', 'races', 'clock']
    const text = await markdown({ commit, options, sound, broken, seconds: 61, names })
    const [results = '', detections = ''] = text.split('## Products broken on purpose')
    const row = (part: string, name: string) =>
      part.split('\n').filter((line) => line.startsWith(`| ${name} |`))
    expect(row(results, 'kills')).toEqual([
      expect.stringMatching(/^\| kills \| holds \| 10 steps in 0 s \| 10 steps \| 0 lost \|/),
    ])
    // It has made no calls: the smallest share counts.
    expect(row(results, 'races')).toEqual([
      expect.stringContaining('| partial: 0 % of full size | 3 steps, 0 calls'),
    ])
    expect(row(results, 'network')).toEqual([
      expect.stringMatching(/^\| network \| \*\*RED\*\* \|.*a \\\| b c/),
    ])
    expect(row(results, 'citus')).toEqual([expect.stringContaining('| not run | needs a cluster |')])
    expect(row(results, 'clock')).toEqual([expect.stringContaining('| not run | not selected |')])
    expect(row(detections, 'kills')).toEqual([
      expect.stringMatching(/^\| kills \| detected \|.*2 lost \(an event\)/),
    ])
    expect(row(detections, 'races')).toEqual([expect.stringContaining('| **NOT DETECTED** |')])
    expect(row(detections, 'clock')).toEqual([expect.stringContaining('| not run |')])
    expect(results).toContain('- **kills**: Kill it.\n')
    expect(results.match(/[0-9a-f]{40}/g)).toEqual([commit.hash])
    expect(results).toContain('- **duration**: 61 s, with --seconds 60\n')
  })

  it('a share that is not complete never reads 100 %', async () => {
    const verdict = await run(steps(99_999, 0, { full: { steps: 100_000 } }), false)
    expect(resultText(verdict)).toBe('partial: 99.9 % of full size')
  })

  it('every scenario breaks something that is there', () => {
    const missing = SCENARIOS.flatMap(({ name, breakage: { sources = [] } }) =>
      sources
        .filter(({ file, find }) => !readFileSync(join(ROOT, 'server/src', file), 'utf8').includes(find))
        .map(({ file, find }) => `${name}: ${file}: ${find}`),
    )
    expect(missing).toEqual([])
  })

  it('refuses to break what is not there', async () => {
    const change = { file: 'main.ts', find: 'a snippet that main.ts does not have', replace: '' }
    await expect(buildService('not-there', [change])).rejects.toThrow(
      'the snippet to break is not in main.ts',
    )
  })

  it('the seed decides, and each scenario has its own numbers', () => {
    const numbers = (seed: number, name: string) => {
      const random = new Random(seed, name)
      return Array.from({ length: 5 }, () => random.int(0, 1_000))
    }
    expect(numbers(1, 'kills')).toEqual(numbers(1, 'kills'))
    expect(numbers(1, 'kills')).not.toEqual(numbers(2, 'kills'))
    expect(numbers(1, 'kills')).not.toEqual(numbers(1, 'races'))
  })

  it('refuses options that it does not know', () => {
    expect(() => readOptions(['--only', 'kills,nonsense'], ['kills'])).toThrow('unknown scenario nonsense')
    expect(() => readOptions(['--seconds', '0'], [])).toThrow('--seconds must be an integer')
    expect(readOptions(['--seconds', '9', '--seed', '3'], [])).toMatchObject({
      seconds: 9,
      seed: 3,
      write: true,
    })
    expect(readOptions(['--only', 'kills'], ['kills'])).toMatchObject({
      write: false,
      sound: true,
      broken: true,
    })
    expect(readOptions(['--break'], [])).toMatchObject({ write: false, sound: false, broken: true })
  })
})

describe('the commit that a report names', () => {
  const root = mkdtempSync(join(tmpdir(), 'tollgate-commit-'))
  afterAll(() => rmSync(root, { recursive: true }))
  const git = (...args: string[]) =>
    execFileSync('git', ['-c', 'user.name=T', '-c', 'user.email=t@example.com', ...args], { cwd: root })
      .toString()
      .trim()
  const commit = (name: string) => {
    writeFileSync(join(root, name), name)
    git('add', '.')
    git('commit', '--quiet', '--message', name)
  }

  it('exists, or no report is written', async () => {
    git('init', '--quiet')
    await expect(checkedOut(root)).rejects.toThrow('not in a Git repository')
    commit('first.ts')
    const { hash, dirty } = await checkedOut(root)
    expect(git('cat-file', '-t', hash)).toBe('commit')
    expect(dirty).toBe(false)
    expect(commitText({ hash, dirty })).toBe(hash)
  })

  it('is marked where files differ from it, but for reports', async () => {
    mkdirSync(join(root, 'docs'))
    writeFileSync(join(root, 'docs/proof.md'), 'a report')
    expect((await checkedOut(root)).dirty).toBe(false)
    writeFileSync(join(root, 'second.ts'), '')
    const found = await checkedOut(root)
    expect(found.dirty).toBe(true)
    expect(commitText(found)).toBe(`${found.hash} with uncommitted changes`)
  })

  it('is the one that the run began with', async () => {
    const began = await checkedOut(root)
    await checkUnchanged(root, began)
    commit('third.ts')
    await expect(checkUnchanged(root, began)).rejects.toThrow('the sources changed during the run')
  })
})
