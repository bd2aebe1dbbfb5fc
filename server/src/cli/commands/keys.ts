import { Command, Option } from 'commander'
import { StartError } from '../../domain/errors.ts'
import { plainText } from '../../terminal/plain-text.ts'
import { table } from '../../terminal/table.ts'
import { type Context, DONE } from '../context.ts'
import { withSession } from '../dashboard-session.ts'
import { wholeNumber } from '../numbers.ts'
import type { Perform } from '../perform.ts'
import { isYes } from '../questions.ts'
import { type CommonOptions, MEMBER_SETTINGS, withSettings } from '../settings.ts'
import { timeAfter } from '../times.ts'

interface Options extends CommonOptions {
  app: string
}

interface Key {
  id: string
  name: string
  prefix: string
  scope: string
  createdAt: string
  lastUsedAt: string | null
  expiresAt: string | null
  revokedAt: string | null
}

interface NewKey {
  id: string
  name: string
  prefix: string
  scope: string
  secret: string
  formerExpiresAt: string | null
}

const KEY = 'id name prefix scope createdAt lastUsedAt expiresAt revokedAt'
const NEW_KEY = 'id name prefix scope secret formerExpiresAt'

export function keysCommand(perform: Perform): Command {
  const task = (name: string, description: string) =>
    withSettings(new Command(name).description(description), MEMBER_SETTINGS).option(
      '--app <id>',
      'ID of the app',
      'default',
    )
  return new Command('keys')
    .summary('list, create, change, rotate and revoke API keys')
    .description('List, create, change, rotate and revoke API keys.')
    .helpCommand(false)
    .addCommand(
      task('list', 'list the API keys of an app')
        .option('--all', 'include revoked and expired keys')
        .action(perform(list)),
    )
    .addCommand(
      task('create', 'create an API key, and print its secret once')
        .argument('<name>', 'name of the key')
        .addOption(scopeOption().default('ALL'))
        .option('--expires <time>', EXPIRES)
        .action(perform(create)),
    )
    .addCommand(
      task('update', 'change the name, scope or expiry of an API key')
        .argument('<id>', 'ID of the key')
        .option('--name <name>', 'new name')
        .addOption(scopeOption())
        .option('--expires <time>', EXPIRES)
        .option('--no-expires', 'the key does not expire')
        .action(perform(update)),
    )
    .addCommand(
      task('rotate', 'replace an API key; the old one keeps working for some hours')
        .argument('<id>', 'ID of the key')
        .option('--overlap-hours <number>', 'hours for which the old key keeps working', wholeNumber, 24)
        .action(perform(rotate)),
    )
    .addCommand(
      task('revoke', 'revoke an API key at once')
        .argument('<id>', 'ID of the key')
        .option('--yes', 'do not ask')
        .action(perform(revoke)),
    )
}

const scopeOption = () =>
  new Option('--scope <scope>', 'operations that the key may call').choices([
    'ALL',
    'USAGE',
    'CATALOGUE',
    'READ',
  ])

const EXPIRES = 'time at which the key stops working (ISO 8601), or a length of time such as 90d'

async function list(context: Context, options: Options & { all?: boolean }): Promise<number> {
  const keys = await withSession(context, options, async (session) => {
    const answer = await session.ask<{ apiKeys: Key[] }>(
      `query ($appId: String!) { apiKeys(appId: $appId) { ${KEY} } }`,
      { appId: options.app },
    )
    return answer.apiKeys
  })
  const now = new Date(context.clocks.wall()).toISOString()
  const shown = keys.filter((key) => options.all || stateOf(key, now) === 'valid')
  const { terminal } = context
  if (options.json) await terminal.print(JSON.stringify(shown))
  else {
    const rows = shown.map((key) => [
      key.id,
      key.name,
      `${key.prefix}…`,
      key.scope,
      key.createdAt,
      key.lastUsedAt ?? 'never',
      key.expiresAt ?? 'never',
      stateOf(key, now),
    ])
    for (const line of table(
      ['ID', 'NAME', 'SECRET', 'SCOPE', 'CREATED', 'LAST USED', 'EXPIRES', 'STATE'],
      rows,
    ))
      await terminal.print(line)
  }
  return DONE
}

function stateOf({ revokedAt, expiresAt }: Key, now: string): 'revoked' | 'expired' | 'valid' {
  if (revokedAt !== null) return 'revoked'
  return expiresAt !== null && Date.parse(expiresAt) <= Date.parse(now) ? 'expired' : 'valid'
}

async function create(
  context: Context,
  name: string,
  options: Options & { scope: string; expires?: string },
): Promise<number> {
  const { app: appId, scope } = options
  const expiresAt = expiryOf(context, options.expires)
  const { createApiKey } = await withSession(context, options, (session) =>
    session.ask<{ createApiKey: NewKey }>(
      `mutation ($appId: String!, $name: String!, $scope: ApiKeyScope, $expiresAt: String) {
        createApiKey(appId: $appId, name: $name, scope: $scope, expiresAt: $expiresAt) { ${NEW_KEY} }
      }`,
      { appId, name, scope, ...(expiresAt !== undefined && { expiresAt }) },
    ),
  )
  await showNewKey(context, createApiKey, options)
  return DONE
}

const expiryOf = ({ clocks }: Context, text: string | undefined): string | undefined =>
  text === undefined ? undefined : timeAfter('--expires', text, clocks.wall())

async function update(
  context: Context,
  id: string,
  options: Options & { name?: string; scope?: string; expires?: string | boolean },
): Promise<number> {
  const { name, scope, expires } = options
  const input = {
    ...(name !== undefined && { name }),
    ...(scope !== undefined && { scope }),
    ...(expires === false && { expiresAt: null }),
    ...(typeof expires === 'string' && { expiresAt: expiryOf(context, expires) }),
  }
  if (Object.keys(input).length === 0)
    throw new StartError('Nothing to change. Add --name, --scope, --expires or --no-expires.')
  const { updateApiKey: key } = await withSession(context, options, (session) =>
    session.ask<{ updateApiKey: Key }>(
      `mutation ($appId: String!, $id: String!, $input: UpdateApiKeyInput!) {
        updateApiKey(appId: $appId, id: $id, input: $input) { ${KEY} }
      }`,
      { appId: options.app, id, input },
    ),
  )
  const { terminal } = context
  await terminal.print(
    options.json
      ? JSON.stringify(key)
      : `Updated ${key.id}: ${plainText(key.name)}, scope ${key.scope}, ${key.expiresAt === null ? 'does not expire' : `expires at ${key.expiresAt}`}.`,
  )
  return DONE
}

async function rotate(
  context: Context,
  id: string,
  options: Options & { overlapHours: number },
): Promise<number> {
  const { rotateApiKey } = await withSession(context, options, (session) =>
    session.ask<{ rotateApiKey: NewKey }>(
      `mutation ($appId: String!, $id: String!, $overlapHours: Int) {
        rotateApiKey(appId: $appId, id: $id, overlapHours: $overlapHours) { ${NEW_KEY} }
      }`,
      { appId: options.app, id, overlapHours: options.overlapHours },
    ),
  )
  await showNewKey(context, rotateApiKey, options)
  return DONE
}

/** The secret alone is the result, so that it can be piped into a secret store. */
async function showNewKey({ terminal }: Context, key: NewKey, options: Options): Promise<void> {
  if (options.json) return terminal.print(JSON.stringify(key))
  terminal.say(`Created the key "${plainText(key.name)}" (${key.id}) of the app ${plainText(options.app)}.`)
  if (key.formerExpiresAt !== null) terminal.say(`The old key stops working at ${key.formerExpiresAt}.`)
  terminal.say('The secret is shown only once:')
  await terminal.print(key.secret)
}

async function revoke(context: Context, id: string, options: Options & { yes?: boolean }): Promise<number> {
  const { questions, terminal } = context
  if (!options.yes && questions !== null) {
    const answer = await questions.ask(`Revoke the key ${plainText(id)}? Callers that use it fail. [y/N] `)
    if (!isYes(answer)) throw new StartError('Nothing was changed.')
  }
  const { revokeApiKey } = await withSession(context, options, (session) =>
    session.ask<{ revokeApiKey: { id: string } }>(
      'mutation ($appId: String!, $id: String!) { revokeApiKey(appId: $appId, id: $id) { id } }',
      { appId: options.app, id },
    ),
  )
  await terminal.print(options.json ? JSON.stringify(revokeApiKey) : `Revoked ${revokeApiKey.id}.`)
  return DONE
}
