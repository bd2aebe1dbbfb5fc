import { randomInt } from 'node:crypto'
import { parseArgs } from 'node:util'

export const USAGE = `npm run proof -- [options]

  --seconds N      approximate total duration, divided among the scenarios (default: run each at full size)
  --seed S         seed of all random decisions (default: random; it is printed)
  --only A,B       run only these scenarios
  --break          run only against products broken on purpose
  --no-break       run only against the product as it is
  --previous REF   version that a rolling restart starts from (default: the newest tag, or 20 commits ago; from 0.1.0 on)
  --write          write docs/proof.md, also after --only or --break; --no-write never writes it

The report covers this run alone and replaces the previous one. A scenario that was not run at its full size is reported as
partial.
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

/** Null: help was requested. Throws on invalid options. */
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
