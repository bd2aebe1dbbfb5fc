import type { Command } from 'commander'
import type { Context } from './context.ts'

/** Runs a command with its arguments, in order, and its options. Resolves with the exit code. */
type Action = (context: Context, ...given: never[]) => Promise<number>

/** Makes an action for commander. */
export type Perform = (action: Action) => (...given: unknown[]) => Promise<void>

/** Runs actions in a context, and hands their exit codes on. */
export const performIn =
  (context: Context, ended: (code: number) => void): Perform =>
  (action) =>
  async (...given) => {
    // Commander passes the command as the last argument.
    const command = given.at(-1) as Command
    const run = action as (context: Context, ...given: unknown[]) => Promise<number>
    ended(await run(context, ...command.processedArgs, command.opts()))
  }
