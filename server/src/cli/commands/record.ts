import { Command } from 'commander'
import { plainText } from '../../terminal/plain-text.ts'
import { askAdmin } from '../admin-api.ts'
import { type Consumption, usedText } from '../consumption.ts'
import { type Context, DIFFERENT, DONE } from '../context.ts'
import { wholeNumber } from '../numbers.ts'
import type { Perform } from '../perform.ts'
import { ADMIN_SETTINGS, type CommonOptions, withSettings } from '../settings.ts'

interface Options extends CommonOptions {
  set?: boolean
  key?: string
}

interface Answer {
  recorded: boolean
  reason: string | null
  consumption: Consumption | null
}

export function recordCommand(perform: Perform): Command {
  const command = new Command('record')
    .summary('record usage of a feature')
    .description(
      'Record usage of a feature. The exit code is 0 if the usage was recorded and 2 if it was refused, for example because the limit is reached.',
    )
    .argument('<user>', 'ID of the user')
    .argument('<feature>', 'ID of the feature')
    .argument('[delta]', 'amount used; a negative amount is taken back', wholeNumber, 1)
    .option('--set', 'set the usage of the current period to this amount instead of adding it')
    .option('--key <key>', 'idempotency key: usage with the same key is counted once')
  return withSettings(command, ADMIN_SETTINGS).action(perform(record))
}

async function record(
  context: Context,
  userId: string,
  featureId: string,
  delta: number,
  options: Options,
): Promise<number> {
  const { recordUsage: answer } = await askAdmin<{ recordUsage: Answer }>(
    context,
    options,
    `mutation ($input: CreateUsageEventInput!) {
      recordUsage(input: $input) { recorded reason consumption { used budget overageEnabled } }
    }`,
    {
      input: {
        userId,
        featureId,
        delta,
        action: options.set ? 'SET' : 'ADD',
        ...(options.key !== undefined && { idempotencyKey: options.key }),
      },
    },
  )
  const { terminal } = context
  if (options.json) await terminal.print(JSON.stringify(answer))
  else {
    await terminal.print(
      answer.recorded
        ? terminal.paint('green', 'Recorded.')
        : `${terminal.paint('red', 'Not recorded')}: ${plainText(answer.reason ?? '')}`,
    )
    if (answer.consumption) await terminal.print(usedText(answer.consumption))
  }
  return answer.recorded ? DONE : DIFFERENT
}
