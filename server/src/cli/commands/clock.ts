import { Command } from 'commander'
import { StartError } from '../../domain/errors.ts'
import { plainText } from '../../terminal/plain-text.ts'
import { type Context, DONE } from '../context.ts'
import { type DashboardSession, withSession } from '../dashboard-session.ts'
import type { Perform } from '../perform.ts'
import { type CommonOptions, MEMBER_SETTINGS, withSettings } from '../settings.ts'
import { timeAfter } from '../times.ts'

interface AppClock {
  id: string
  testClock: boolean
  now: string
}

export function clockCommand(perform: Perform): Command {
  const task = (name: string, description: string) =>
    withSettings(new Command(name).description(description), MEMBER_SETTINGS)
  return new Command('clock')
    .summary('show and advance the test clock of an app')
    .description('Show and advance the test clock of an app.')
    .helpCommand(false)
    .addCommand(
      task('show', 'show the current time of an app')
        .argument('[app]', 'ID of the app', 'default')
        .action(perform(show)),
    )
    .addCommand(
      task('advance', 'move the test clock of an app forward')
        .argument('<app>', 'ID of the app')
        .argument('<to>', 'new time (ISO 8601), or a length of time such as +12h or +30d')
        .action(perform(advance)),
    )
}

async function show(context: Context, app: string, options: CommonOptions): Promise<number> {
  const clock = await withSession(context, options, (session) => clockOf(session, app))
  await print(context, clock, options)
  return DONE
}

async function advance(context: Context, app: string, to: string, options: CommonOptions): Promise<number> {
  const clock = await withSession(context, options, async (session) => {
    const before = await clockOf(session, app)
    const time = timeAfter('The time', to, Date.parse(before.now))
    const { advanceClock } = await session.ask<{ advanceClock: AppClock }>(
      'mutation ($app: String!, $to: String!) { advanceClock(appId: $app, to: $to) { id testClock now } }',
      { app, to: time },
    )
    return advanceClock
  })
  await print(context, clock, options)
  return DONE
}

async function clockOf(session: DashboardSession, app: string): Promise<AppClock> {
  const answer = await session.ask<{ app: AppClock | null }>(
    'query ($app: String!) { app(appId: $app) { id testClock now } }',
    { app },
  )
  if (!answer.app) throw new StartError(`App not found: ${JSON.stringify(plainText(app))}`)
  return answer.app
}

async function print({ terminal }: Context, clock: AppClock, options: CommonOptions): Promise<void> {
  const kind = clock.testClock ? 'test clock' : 'real time'
  await terminal.print(options.json ? JSON.stringify(clock) : `${clock.now} (${kind} of ${clock.id})`)
}
