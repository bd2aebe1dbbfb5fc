import type { Command } from 'commander'
import type { Context } from './context.ts'

/** What a command does with its arguments, in order, and its options. It resolves with the exit code. */
type Action = (context: Context, ...given: never[]) => Promise<number>

/** Makes an action for commander. */
export type Perform = (action: Action) => (...given: unknown[]) => Promise<void>

/** Runs actions in a context, and hands their exit codes on. */
export const performIn =
  (context: Context, ended: (code: number) => void): Perform =>
  (action) =>
  async (...given) => {
    // Commander passes the command last, whose arguments are those that the action declares.
    const command = given.at(-1) as Command
    const run = action as (context: Context, ...given: unknown[]) => Promise<number>
    ended(await run(context, ...command.processedArgs, command.opts()))
  }
