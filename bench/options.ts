import { resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { DISTRIBUTIONS, type Distribution } from './distribution.ts'

export const USAGE = `npm run bench -- [options]

  --quick        fewer users and shorter rounds; does not write the reports
  --only NAME    run only this pair (can be repeated)
  --write        write docs/benchmarks.md and docs/benchmarks.svg even with --quick
  --data DIR     keep the seeded databases in DIR for reuse (default: a temporary folder)
  --users D      uniform (default) or zipf: how often each user occurs in the load
  --rounds N     number of rounds per side
  --seconds N    length of a round in seconds (below about 5, the p99 mostly measures opening connections)
`

/** How much is measured. */
export interface Scale {
  rounds: number
  seconds: number
  /** how long each server is loaded, with every answer looked at, before anything is measured */
  warmUpSeconds: number
  /** of all pairs but growth */
  users: number
  /** of the users in the load */
  distribution: Distribution
  /** of growth, smallest first */
  sizes: readonly number[]
}

export interface Options {
  quick: boolean
  only: readonly string[]
  write: boolean
  data: string | null
  scale: Scale
}

const QUICK: Scale = {
  rounds: 2,
  seconds: 1,
  warmUpSeconds: 1,
  users: 100_000,
  distribution: 'uniform',
  sizes: [10_000, 100_000],
}
const FULL: Scale = {
  rounds: 5,
  seconds: 8,
  warmUpSeconds: 5,
  users: 1_000_000,
  distribution: 'uniform',
  sizes: [10_000, 1_000_000, 5_000_000],
}

/** Null: help was asked for. Throws on anything that is not understood. */
export function readOptions(args: string[], pairs: readonly string[]): Options | null {
  const { values } = parseArgs({
    args,
    options: {
      quick: { type: 'boolean', default: false },
      only: { type: 'string', multiple: true, default: [] },
      write: { type: 'boolean' },
      data: { type: 'string' },
      users: { type: 'string', default: 'uniform' },
      rounds: { type: 'string' },
      seconds: { type: 'string' },
      help: { type: 'boolean', short: 'h', default: false },
    },
  })
  if (values.help) return null
  const unknown = values.only.find((name) => !pairs.includes(name))
  if (unknown) throw new Error(`unknown pair ${unknown}; choose from ${pairs.join(', ')}`)
  const scale = values.quick ? QUICK : FULL
  return {
    quick: values.quick,
    only: values.only,
    write: values.write ?? (!values.quick && values.only.length === 0),
    data: values.data === undefined ? null : resolve(values.data),
    scale: {
      ...scale,
      distribution: readDistribution(values.users),
      rounds: count('--rounds', values.rounds) ?? scale.rounds,
      seconds: count('--seconds', values.seconds) ?? scale.seconds,
    },
  }
}

export function readDistribution(text: string): Distribution {
  const found = DISTRIBUTIONS.find((name) => name === text)
  if (!found) throw new Error(`--users must be ${DISTRIBUTIONS.join(' or ')}; --size is their number`)
  return found
}

/** Null for an absent option. */
export function count(name: string, text: string | undefined, most = 9_999): number | null {
  if (text === undefined) return null
  const value = /^[1-9]\d*$/.test(text) ? Number(text) : Number.NaN
  if (!(value <= most)) throw new Error(`${name} must be an integer from 1 to ${most}`)
  return value
}
