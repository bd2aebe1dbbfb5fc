import { parseArgs } from 'node:util'

export interface Options {
  /** paths or their beginnings, below server/src; none: all folders */
  only: string[]
  /** only changes of a piece of code that contains this text; empty: all */
  like: string
  /** maximum duration; null: until all are done */
  seconds: number | null
  /** maximum number; null: until all are done */
  most: number | null
  seed: number
  /** only tests without a database, and only the mutants that one of them reaches */
  unit: boolean
  /** the same with tests whose paths begin like this; empty: all */
  with: string
  /** skips mutants that earlier runs killed, and starts with those that survived */
  continue: boolean
  /** writes docs/mutants.md; not after --continue, whose mutants are no random sample */
  write: boolean
}

export const FOLDERS = ['domain', 'billing', 'store', 'operations']

/** Values that were chosen, and the schema's history: another number there is another choice. */
export const LEFT_OUT = ['/migrations/', 'domain/limits.ts', 'domain/common-passwords.ts']

export const USAGE = `npm run mutants -- [options]

Makes one small change at a time in ${FOLDERS.join(', ')} and runs the tests that reach it. A change that no test notices
has survived. Only docs/mutants.md is written, and only about this run.

  --only domain/period.ts   only this file or folder; may be repeated
  --like app_id             only changes of code that contains this text
  --seconds 600             stop after this time; the order is random, so a short run is a sample
  --most 120                stop after this many mutants
  --seed 7                  seed of the order
  --unit                    only tests without a database, and only mutants that they reach: fast
  --with server/test/schema only tests whose paths start like this, and only mutants that they reach
  --continue                skip mutants that earlier runs killed, start with those that survived; writes no report
  --no-write                do not write docs/mutants.md
`

/** Null: help was requested. */
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
      continue: { type: 'boolean', default: false },
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
    continue: values.continue,
    write: values.write && !values.continue,
  }
}
