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

Changes one thing at a time in ${FOLDERS.join(', ')} and runs the tests that look at it; a change that no test notices
is a survivor. Nothing on the disk is changed but docs/mutants.md. What was killed in a file that is still the same is
not tried again; survivors are.

  --only domain/period.ts   only this file or folder; may be given several times
  --like app_id             only changes of a piece of code that contains this text
  --seconds 600             stops after that time; the order is random, so that a short run is a sample
  --most 120                stops after so many
  --seed 7                  the same order again
  --unit                    only tests without a database, and what they come past: many mutants in little time
  --with server/test/schema only tests whose paths begin like this, and what they come past
  --fresh                   tries all of them again
  --no-write                leaves docs/mutants.md and its figures as they are
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
    if (!/^\d{1,9}$/.test(text)) throw new Error(`--${name} must be a whole number`)
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
