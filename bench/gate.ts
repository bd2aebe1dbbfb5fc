// Fails if the hot paths have become slower since the baseline in kept.json.
import { readFile, writeFile } from 'node:fs/promises'
import { parseArgs } from 'node:util'
import { runScript } from './cleanup.ts'
import { COMPARE_OPTIONS, COMPARE_USAGE, compareHotPaths } from './hot-paths.ts'
import { lossIn, MOST_LOSS } from './loss.ts'
import { estimateText } from './rounds.ts'

const USAGE = `npm run bench:gate -- [options]

  Compares the speed of check, record and lone in this version and in the baseline commit of bench/kept.json, and fails if one
  of them has lost more than 3 %, beyond the noise of the measurement.

  --write        store the measured ratios in bench/kept.json, unless a loss was found or could not be ruled out
${COMPARE_USAGE}`

const FILE = new URL('kept.json', import.meta.url)

interface Kept {
  /** the commit that all later versions are compared with */
  baseline: string
  /** speed of main ÷ speed of the baseline, when last measured */
  accepted: Record<string, number>
}

async function gate(write: boolean, values: Parameters<typeof compareHotPaths>[1]): Promise<void> {
  const { baseline, accepted }: Kept = JSON.parse(await readFile(FILE, 'utf8'))
  const compared = await compareHotPaths(baseline, values)
  const most = `${MOST_LOSS * 100} %`
  const sentences = compared.flatMap((path) => {
    const { name, high } = path
    const ratio = `${estimateText(path)} of its speed`
    if (lossIn(path) === 'too large')
      return [`${name} has lost more than ${most} since ${baseline}: ${ratio}.`]
    if (lossIn(path) === 'unclear')
      return [
        `${name}: too noisy to rule out a loss of more than ${most}: ${ratio}. Use a quiet machine or more --starts.`,
      ]
    return high < (accepted[name] ?? 0)
      ? [`${name} is slower than the accepted ${accepted[name]}: ${ratio}.`]
      : []
  })
  process.stdout.write(
    `\n${sentences.join('\n') || `No hot path has lost more than ${most} since ${baseline}.`}\n`,
  )

  const names = (loss: ReturnType<typeof lossIn>) =>
    compared.filter((path) => lossIn(path) === loss).map(({ name }) => name)
  const lost = names('too large')
  if (lost.length > 0) throw new Error(`the gate is closed: ${lost.join(', ')} lost too much speed`)
  if (!write) return
  if (names('unclear').length > 0) throw new Error('the measurement is too noisy to write bench/kept.json')
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
