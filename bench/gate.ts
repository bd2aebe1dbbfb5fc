// Fails if the hot paths have become slower since the baseline in kept.json.
import { readFile, writeFile } from 'node:fs/promises'
import { parseArgs } from 'node:util'
import { runScript } from './cleanup.ts'
import { COMPARE_OPTIONS, COMPARE_USAGE, type Compared, compareHotPaths } from './hot-paths.ts'
import { estimateText } from './rounds.ts'

const USAGE = `npm run bench:gate -- [options]

  Compares the speed of check, record and lone in this version and in the baseline commit of bench/kept.json, and fails if one
  of them has lost more than 3 %, beyond the noise of the measurement.

  --write        store the measured ratios in bench/kept.json, unless a loss was found or could not be ruled out
${COMPARE_USAGE}`

const FILE = new URL('kept.json', import.meta.url)
const MOST_LOSS = 0.03

interface Kept {
  /** the commit that all later versions are compared with */
  baseline: string
  /** speed of main ÷ speed of the baseline, when last measured */
  accepted: Record<string, number>
}

async function gate(write: boolean, values: Parameters<typeof compareHotPaths>[1]): Promise<void> {
  const { baseline, accepted }: Kept = JSON.parse(await readFile(FILE, 'utf8'))
  const compared = await compareHotPaths(baseline, values)
  const print = (found: Compared[], sentence: (found: Compared) => string) =>
    process.stdout.write(found.map((one) => `\n${sentence(one)}`).join(''))

  const least = 1 - MOST_LOSS
  const lost = compared.filter(({ high }) => high < least)
  const unclear = compared.filter(({ low, high }) => low < least && high >= least)
  print(
    compared.filter(({ name, high }) => high < (accepted[name] ?? 0)),
    (one) => `${one.name} is slower than the accepted ratio of ${accepted[one.name]}: ${estimateText(one)}.`,
  )
  print(
    unclear,
    (one) =>
      `${one.name}: too noisy to rule out a loss of more than 3 %: ${estimateText(one)}. Run it on a quiet machine, or with more --starts.`,
  )
  print(
    lost,
    (one) => `${one.name} has lost more than 3 % of its speed since ${baseline}: ${estimateText(one)}.`,
  )
  process.stdout.write('\n')
  if (lost.length > 0)
    throw new Error(`the gate is closed: ${lost.map(({ name }) => name).join(', ')} lost too much`)
  if (!write) return
  if (unclear.length > 0) throw new Error('bench/kept.json was not written: the measurement is too noisy')
  const ratios = Object.fromEntries(compared.map(({ name, ratio }) => [name, Number(ratio.toFixed(3))]))
  await writeFile(FILE, `${JSON.stringify({ baseline, accepted: ratios } satisfies Kept, null, 2)}\n`)
}

await runScript(async () => {
  const { values } = parseArgs({
    options: {
      ...COMPARE_OPTIONS,
      write: { type: 'boolean', default: false },
      help: { type: 'boolean', short: 'h' },
    },
  })
  if (values.help) process.stdout.write(USAGE)
  else await gate(values.write, values)
})
