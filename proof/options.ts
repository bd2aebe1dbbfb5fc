import { randomInt } from 'node:crypto'
import { parseArgs } from 'node:util'

export const USAGE = `npm run proof -- [options]

  --seconds N      approximate total time, shared by the scenarios (default: each runs at full size)
  --seed S         random seed (default: a new one for each run, which is printed)
  --only A,B       run only these scenarios
  --break          run only against deliberately broken builds; each scenario must fail
  --no-break       run only against the unmodified build
  --previous REF   version to start a rolling restart from (default: the newest tag, or 20 commits ago)
  --write          write docs/proof.md even with --only, updating only those rows; --no-write never writes it
`

export interface Options {
  seconds: number | null
  seed: number
  only: readonly string[]
  sound: boolean
  broken: boolean
  previous: string | null
  write: boolean
}

/** Null: help was asked for. Throws on anything that is not understood. */
export function readOptions(args: string[], scenarios: readonly string[]): Options | null {
  const { values } = parseArgs({
    args,
    allowNegative: true,
    options: {
      seconds: { type: 'string' },
      seed: { type: 'string' },
      only: { type: 'string', multiple: true, default: [] },
      break: { type: 'boolean' },
      previous: { type: 'string' },
      write: { type: 'boolean' },
      help: { type: 'boolean', short: 'h', default: false },
    },
  })
  if (values.help) return null
  const only = values.only.flatMap((names) => names.split(','))
  const unknown = only.find((name) => !scenarios.includes(name))
  if (unknown !== undefined)
    throw new Error(`unknown scenario ${unknown}; choose from ${scenarios.join(', ')}`)
  return {
    seconds: whole('--seconds', values.seconds),
    seed: whole('--seed', values.seed) ?? randomInt(1, 1_000_000),
    only,
    sound: values.break !== true,
    broken: values.break !== false,
    previous: values.previous ?? null,
    write: values.write ?? (only.length === 0 && values.break === undefined),
  }
}

function whole(name: string, text: string | undefined): number | null {
  if (text === undefined) return null
  if (!/^[1-9]\d{0,8}$/.test(text)) throw new Error(`${name} must be an integer from 1 to 999999999`)
  return Number(text)
}
