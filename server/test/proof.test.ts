import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { buildService, ROOT } from '../../proof/harness/build.ts'
import { readOptions } from '../../proof/options.ts'
import { readPage } from '../../proof/page.ts'
import { holds, prove, type Verdict } from '../../proof/prove.ts'
import { Random } from '../../proof/random.ts'
import { findings, markdown } from '../../proof/report.ts'
import type { Scenario } from '../../proof/scenario.ts'
import { kills } from '../../proof/scenarios/kills.ts'
import { races } from '../../proof/scenarios/races.ts'
import { SCENARIOS } from '../../proof/scenarios.ts'

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
      expect(holds(verdict)).toBe(true)
    },
  )

  it('a product that is broken on purpose turns its scenario red', PATIENCE, async () => {
    const verdict = await run(races, true)
    expect(verdict.failure).toBeNull()
    expect(verdict.trial.red).toBe(true)
    expect(holds(verdict)).toBe(true)
  })

  it('a broken product that goes unnoticed fails the run, and so does a scenario that breaks off', async () => {
    const idle: Scenario = { ...races, run: async () => {} }
    expect(holds(await run(idle, false))).toBe(true)
    expect(holds(await run(idle, true))).toBe(false)
    const failing: Scenario = { ...races, run: () => Promise.reject(new Error('it broke off')) }
    expect(holds(await run(failing, false))).toBe(false)
    expect(holds(await run(failing, true))).toBe(false)
  })

  it('a run replaces the rows of what it ran, and leaves the others', async () => {
    const [names, seconds] = [['kills', 'races', 'clock'], 1]
    const page = async (only: Scenario[], broken: boolean, before: string) => {
      const options = readOptions(['--seed', '3'], names)
      if (!options) throw new Error('no options')
      const verdicts = await Promise.all(only.map((scenario) => run(scenario, broken)))
      const [sound, red] = broken ? [[], verdicts] : [verdicts, []]
      return markdown({ options, sound, broken: red, seconds, names }, readPage(before))
    }
    const named = (name: string, what: string, goes: Scenario['run']): Scenario => ({
      ...races,
      name,
      what,
      run: goes,
    })
    const quiet = named('races', 'what is done', async () => {})
    const first = await page([quiet, named('kills', 'kill it', async () => {})], false, '')
    expect(first).toContain('| holds |')
    const failing = named('races', 'what is done now', () => Promise.reject(new Error('a | b\rc')))
    const second = await page([failing], true, await page([failing], false, first))
    const row = (text: string, name: string) => text.split('\n').filter((line) => line.includes(` ${name} |`))
    expect(row(second, 'kills')).toEqual(row(first, 'kills'))
    expect(row(second, 'kills')).toHaveLength(1)
    expect(row(second, 'races')).toEqual([
      expect.stringContaining('a \\| b c'),
      expect.stringContaining('STAYED GREEN'),
    ])
    expect(second).toContain('- **kills**: kill it.\n- **races**: what is done now.\n')
    // What cannot run on this machine keeps what another machine found.
    const skipped: Scenario = { ...failing, unavailable: async () => 'it takes a cluster' }
    expect(row(await page([skipped], false, second), 'races')).toEqual(row(second, 'races'))
    expect(row(await page([skipped], false, ''), 'races')).toEqual([
      expect.stringContaining('it takes a cluster'),
    ])
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
    expect(() => readOptions(['--only', 'kills,nonsense'], ['kills'])).toThrow(
      'unknown scenario nonsense',
    )
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
