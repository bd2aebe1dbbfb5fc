import { writeFileSync } from 'node:fs'
import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { atEnd, cleanUp, cleanUpOnSignals, isEnding } from '../bench/cleanup.ts'
import { checkedOut, checkUnchanged } from '../bench/commit.ts'
import { startPostgres, withClient } from '../bench/postgres.ts'
import { say } from '../bench/progress.ts'
import { Random } from '../proof/random.ts'
import { ownTempFolder } from '../server/test/harness/temp-folder.ts'
import { isUnit } from '../server/test/house/projects.ts'
import { type Budget, Coverage } from './coverage.ts'
import { type Explanation, explanationOf } from './explained.ts'
import { type Finding, Findings, readJson } from './findings.ts'
import { Judge } from './judge.ts'
import { Jury } from './jury.ts'
import { type Mutant, type Numbered, shown } from './mutant.ts'
import { type Options, readOptions, USAGE } from './options.ts'
import { type Figures, markdown } from './report.ts'
import { readSources, type Source } from './sources.ts'
import { testFiles } from './test-files.ts'

const ROOT = fileURLToPath(new URL('..', import.meta.url))
const REMEMBERED = join(ROOT, 'node_modules/.cache/tollgate-mutants.json')
const COVERED = join(ROOT, 'node_modules/.cache/tollgate-mutants-coverage.json')

/** Mutants at a time: enough that starting a test process does not matter, few enough to stop on time. */
const BATCH = 8

/** How long a test file may run without finishing a test while nothing is changed. */
const QUIET_MS = 120_000

async function main(options: Options): Promise<void> {
  const all = readSources(ROOT)
  const isChosen = ({ path, was }: Mutant) =>
    (options.only.length === 0 || options.only.some((only) => path.startsWith(only))) &&
    was.includes(options.like)
  if (!all.some(({ mutants }) => mutants.some(isChosen)))
    throw new Error('no mutants match --only and --like')
  const commit = options.write ? await checkedOut(ROOT) : null
  const findings = new Findings(REMEMBERED)
  const explained = readExplanations()
  const random = new Random(options.seed)
  const inOrder = all
    .flatMap(({ text, mutants }) => mutants.filter(isChosen).map((mutant) => ({ mutant, text })))
    .flatMap((one) => {
      const { mutant, text } = one
      const known = options.continue ? findings.known(mutant, text) : null
      if (known !== null && known !== 'survived') return []
      // Those that have survived before come first: somebody may have written a test since.
      const again = known !== null && !explanationOf(mutant, text, explained)
      const budget: Budget = again ? 'again' : 'first'
      return [{ ...one, budget, at: again ? 0 : 1 + random.next() }]
    })
    .sort((a, b) => a.at - b.at)
  const judge = new Judge(await database())
  atEnd(() => judge.stop())
  const isUsed = (test: string) => (!options.unit || isUnit(test)) && test.startsWith(options.with)
  const coverage = new Coverage(ROOT, COVERED, all, isUsed)
  const began = performance.now()
  const secondsGone = () => (performance.now() - began) / 1_000
  const isTime = () => secondsGone() < (options.seconds ?? Infinity) && !isEnding()
  await cover(judge, coverage, testFiles(ROOT).filter(isUsed), isTime)
  const jury = new Jury(judge, coverage)
  const usesAll = !options.unit && options.with === ''
  const canTry = (mutant: Numbered) => usesAll || coverage.trialsOf(mutant, 'first').length > 0
  const order = inOrder.filter(({ mutant }) => canTry(mutant))
  say(`seed ${options.seed}: ${order.length} mutants to try`)
  const found: Finding[] = []
  let tried = 0
  while (tried < Math.min(order.length, options.most ?? Infinity) && isTime()) {
    const next = order.slice(tried, tried + BATCH)
    const budget = next[0]?.budget ?? 'first'
    const batch = next.filter((one) => one.budget === budget)
    const verdicts = await jury.judge(
      batch.map(({ mutant }) => mutant),
      budget,
    )
    if (isEnding()) break
    for (const [index, { mutant, text }] of batch.entries()) {
      const verdict = verdicts[index] ?? 'survived'
      findings.note(mutant, text, verdict)
      found.push({ mutant, verdict })
      if (verdict === 'survived') say(`  ${line(mutant)}`)
    }
    tried += batch.length
    findings.save()
    const survivors = found.filter(({ verdict }) => verdict === 'survived').length
    say(`${tried} of ${order.length} tried, ${survivors} survived, ${secondsGone().toFixed(0)} s`)
  }
  if (!commit || isEnding()) return
  await checkUnchanged(ROOT, commit)
  report(all, found, { commit, seconds: secondsGone(), options })
}

/** Runs each test file that is new or has changed once, without any mutant. */
async function cover(
  judge: Judge,
  coverage: Coverage,
  all: readonly string[],
  isTime: () => boolean,
): Promise<void> {
  const unknown = all.filter((test) => !coverage.isKnown(test))
  if (unknown.length > 0)
    say(`${unknown.length} test files to run without a mutant, to find out what they reach`)
  for (let done = 0; done < unknown.length && isTime(); done += BATCH) {
    const tests = unknown.slice(done, done + BATCH)
    const trials = tests.map((test) => ({ test, mutant: null, last: Number.MAX_SAFE_INTEGER }))
    const results = await judge.judge(trials, QUIET_MS)
    for (const [index, test] of tests.entries()) {
      const result = results[index] ?? 'timed out'
      coverage.note(test, result)
      const failed = result === 'timed out' ? result : result.failed
      if (failed !== null) say(`  not used, fails without a mutant: ${failed}`)
    }
    coverage.save()
    say(`${Math.min(done + BATCH, unknown.length)} of ${unknown.length} test files`)
  }
}

const readExplanations = () => readJson<Explanation[]>(join(ROOT, 'mutants/explained.json')) ?? []

function report(all: Source[], found: Finding[], run: Pick<Figures, 'commit' | 'seconds' | 'options'>): void {
  const explained = readExplanations()
  const texts = new Map(all.map(({ path, text }) => [path, text]))
  const text = markdown({
    ...run,
    possible: new Map(all.map(({ path, mutants }) => [path, mutants.length])),
    findings: found.map((finding) => ({
      finding,
      explained: explanationOf(finding.mutant, texts.get(finding.mutant.path) ?? '', explained) !== null,
    })),
  })
  writeFileSync(join(ROOT, 'docs/mutants.md'), text)
  say('wrote docs/mutants.md')
}

const line = ({ path, line, was, becomes }: Mutant): string =>
  `survived: ${path}:${line} ${shown(was)} -> ${shown(becomes)}`

/** One PostgreSQL for the whole run, whatever becomes of the processes that use it. */
async function database(): Promise<string> {
  const dataDir = await mkdtemp(join(tmpdir(), 'tollgate-mutants-'))
  atEnd(() => rm(dataDir, { recursive: true, force: true }))
  // As root, PostgreSQL runs under another account, which must be able to get here.
  await chmod(dataDir, 0o755)
  const { urlOf } = await startPostgres(dataDir)
  const url = urlOf('postgres')
  await withClient(url, async (client) => {
    for (const setting of ['fsync', 'full_page_writes'])
      await client.query(`alter system set ${setting} = off`)
    await client.query('select pg_reload_conf()')
  })
  return url
}

ownTempFolder()
cleanUpOnSignals('mutants')
try {
  const options = readOptions(process.argv.slice(2))
  if (!options) process.stdout.write(USAGE)
  else await main(options)
} catch (error) {
  if (!isEnding()) {
    process.stderr.write(`mutants: ${(error as Error).message}\n`)
    process.exitCode = 1
  }
} finally {
  if (!isEnding()) await cleanUp()
}
