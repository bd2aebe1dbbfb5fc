import { Command } from 'commander'
import { plainText } from '../../terminal/plain-text.ts'
import { askAdmin } from '../admin-api.ts'
import { type Consumption, usedText } from '../consumption.ts'
import { type Context, DIFFERENT, DONE } from '../context.ts'
import { wholeNumber } from '../numbers.ts'
import type { Perform } from '../perform.ts'
import { ADMIN_SETTINGS, type CommonOptions, withSettings } from '../settings.ts'

interface Options extends CommonOptions {
  delta?: number
}

interface Answer {
  access: boolean
  reason: string
  reasonCode: string
  featureId: string
  consumption: Consumption | null
}

export function checkCommand(perform: Perform): Command {
  const command = new Command('check')
    .summary('check whether a user may use a feature')
    .description(
      'Check whether a user may use a feature. The exit code is 0 if access is granted and 2 if it is denied.',
    )
    .argument('<user>', 'ID of the user')
    .argument('<feature>', 'ID of the feature')
    .option('--delta <number>', 'amount that must fit within the limit (default: 1)', wholeNumber)
  return withSettings(command, ADMIN_SETTINGS).action(perform(check))
}

async function check(context: Context, user: string, feature: string, options: Options): Promise<number> {
  const { canUseFeature: answer } = await askAdmin<{ canUseFeature: Answer }>(
    context,
    options,
    `query ($userId: String!, $featureId: String!, $delta: Int) {
      canUseFeature(userId: $userId, featureId: $featureId, delta: $delta) {
        access reason reasonCode featureId consumption { used budget overageEnabled }
      }
    }`,
    { userId: user, featureId: feature, ...(options.delta !== undefined && { delta: options.delta }) },
  )
  const { terminal } = context
  if (options.json) await terminal.print(JSON.stringify(answer))
  else {
    const outcome = answer.access
      ? terminal.paint('green', 'Access granted')
      : terminal.paint('red', 'Access denied')
    await terminal.print(`${outcome}: ${plainText(answer.reason)}`)
    if (answer.consumption) await terminal.print(usedText(answer.consumption))
  }
  return answer.access ? DONE : DIFFERENT
}
