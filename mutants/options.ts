import { parseArgs } from 'node:util'

export interface Options {
  /** paths or their beginnings, below server/src; none: all folders */
  only: string[]
  /** only changes of a piece of code that contains this text; empty: all */
  like: string
  /** at most so long; null: until all are done */
  seconds: number | null
  /** at most so many; null: until all are done */
  most: number | null
  seed: number
  /** only tests without a database, and only the mutants that one of them comes past */
  unit: boolean
  /** the same with tests whose paths begin like this; empty: all */
  with: string
  /** forgets what earlier runs have found */
  fresh: boolean
  /** writes docs/mutants.md */
  write: boolean
}

export const FOLDERS = ['domain', 'billing', 'store', 'operations']

/** Values that were chosen, and the schema's history: another number there is another choice. */
export const LEFT_OUT = ['/migrations/', 'domain/limits.ts', 'domain/common-passwords.ts']

export const USAGE = `npm run mutants -- [options]

Makes one change at a time in ${FOLDERS.join(', ')} and runs the tests that cover it. A change that no test detects is a
survivor. Only docs/mutants.md is written to disk. Mutants killed in an unchanged file are not tried again; survivors are.

  --only domain/period.ts   only this file or folder (can be repeated)
  --like app_id             only mutants of code that contains this text
  --seconds 600             stop after this time; the order is random, so a short run is a sample
  --most 120                stop after this number of mutants
  --seed 7                  seed of the order, to repeat a run
  --unit                    only tests without a database and the code they cover; the fastest way to run many mutants
  --with server/test/store  only tests whose paths start with this, and the code they cover
  --fresh                   try all mutants again
  --no-write                do not update docs/mutants.md
`

/** Null: help was asked for. */
export function readOptions(args: string[]): Options | null {
  const { values } = parseArgs({
    args,
    allowNegative: true,
    options: {
      only: { type: 'string', multiple: true, default: [] },
      like: { type: 'string', default: '' },
      seconds: { type: 'string' },
      most: { type: 'string' },
      seed: { type: 'string' },
      unit: { type: 'boolean', default: false },
      with: { type: 'string', default: '' },
      fresh: { type: 'boolean', default: false },
      write: { type: 'boolean', default: true },
      help: { type: 'boolean', default: false },
    },
  })
  if (values.help) return null
  const numberOf = (name: 'seconds' | 'most' | 'seed'): number | null => {
    const text = values[name]
    if (text === undefined) return null
    if (!/^\d{1,9}$/.test(text)) throw new Error(`--${name} must be an integer`)
    return Number(text)
  }
  return {
    only: values.only.map((path) => path.replace(/^(?:server\/src\/)?/, 'server/src/')),
    like: values.like,
    seconds: numberOf('seconds'),
    most: numberOf('most'),
    seed: numberOf('seed') ?? Math.floor(Math.random() * 1_000_000),
    unit: values.unit,
    with: values.with,
    fresh: values.fresh,
    write: values.write,
  }
}
