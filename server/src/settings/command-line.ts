import { parseArgs } from 'node:util'
import { StartError } from '../domain/errors.ts'
import { DEFAULT_APP } from '../operations/apps/first-start.ts'
import type { RecoveryOptions } from '../operations/apps/recovery.ts'
import { settingsHelp } from './setting-list.ts'

const USAGE = `Usage: tollgate start                          start the service
       tollgate start --new-key [--app ID]     start it and print a new API key of an app (default: ${DEFAULT_APP})
       tollgate start --reset-owner [EMAIL]    start it and print a password reset link for an owner

In a clone, npm start does the same; options follow --, as in npm start -- --new-key.
If the service is already running, the last two commands print the key or link and exit.`

export const startHelp = (): string => `${USAGE}\n\n${settingsHelp()}`

/** Null: print the usage. */
export function readRecoveryOptions(args: string[]): RecoveryOptions | null {
  const { values, positionals } = parsed(args)
  if (values.help) return null
  const [email, ...more] = positionals
  const reset = values['reset-owner']
  if ((values.app !== undefined && !values['new-key']) || (email !== undefined && !reset) || more.length > 0)
    throw notUnderstood()
  return {
    newKeyOf: values['new-key'] ? (values.app ?? DEFAULT_APP) : null,
    resetOwner: reset ? (email ?? '') : null,
  }
}

function parsed(args: string[]) {
  try {
    return parseArgs({
      args,
      allowPositionals: true,
      options: {
        'new-key': { type: 'boolean', default: false },
        app: { type: 'string' },
        'reset-owner': { type: 'boolean', default: false },
        help: { type: 'boolean', default: false },
      },
    })
  } catch (error) {
    // After the first sentence, Node explains its own syntax.
    throw notUnderstood((error as Error).message.split('. ', 1)[0]?.replace(/\.$/, ''))
  }
}

const notUnderstood = (reason = 'These options do not go together') => new StartError(`${reason}.\n${USAGE}`)
