import { setTimeout as delay } from 'node:timers/promises'
import { Command } from 'commander'
import { plainText } from '../../terminal/plain-text.ts'
import { type Context, DONE } from '../context.ts'
import { type DashboardSession, withSession } from '../dashboard-session.ts'
import { positiveNumber } from '../numbers.ts'
import type { Perform } from '../perform.ts'
import { type CommonOptions, MEMBER_SETTINGS, withSettings } from '../settings.ts'
import { timeBefore } from '../times.ts'

const FOLLOW_EVERY_MS = 2_000
const OVERLAP_MS = 10_000
/** More than are written during the overlap. */
const MAX_KNOWN = 100_000
/** Entries per request. */
const PAGE = 100
const USUAL_ENTRIES = 50

interface Options extends CommonOptions {
  app?: string
  since?: string
  who?: string
  operation?: string
  subject?: string
  limit?: number
  follow?: boolean
}

interface Entry {
  id: string
  at: string
  appId: string | null
  actor: string
  actorKind: string
  memberEmail: string
  source: string | null
  operation: string
  sentence: string
  subjectKind: string | null
  subjectId: string | null
  before: unknown
  after: unknown
}

const ENTRY =
  'id at appId actor actorKind memberEmail source operation sentence subjectKind subjectId before after'

export function auditCommand(perform: Perform): Command {
  const command = new Command('audit')
    .summary('print the audit log')
    .description('Print the audit log, oldest entry first. With --json, each line is an entry.')
    .option('--app <id>', 'only entries of this app')
    .option(
      '--since <time>',
      'only entries since this time (ISO 8601), or a length of time such as 12h or 7d',
    )
    .option('--who <actor>', "only entries of this actor: a member's email address or the ID of an API key")
    .option('--operation <name>', 'only entries of this operation, such as createApiKey')
    .option('--subject <id>', 'only entries about this user, package, feature or other object')
    .option(
      '--limit <number>',
      `at most this many entries, the newest (default: ${USUAL_ENTRIES})`,
      positiveNumber,
    )
    .option('--follow', 'then print new entries as they are written, until Ctrl-C')
  return withSettings(command, MEMBER_SETTINGS).action(perform(audit))
}

async function audit(context: Context, options: Options): Promise<number> {
  const since = options.since && timeBefore('--since', options.since, context.clocks.wall())
  await withSession(context, options, async (session) => {
    const limit = options.limit ?? USUAL_ENTRIES
    const shown = await entries(session, options, since, limit)
    for (const entry of shown.toReversed()) await print(context, entry, options)
    if (options.follow) await follow(context, session, options, shown)
  })
  return DONE
}

/** The newest entries, newest first. */
async function entries(
  session: DashboardSession,
  options: Options,
  from: string | undefined,
  limit: number,
): Promise<Entry[]> {
  const found: Entry[] = []
  let after: string | null = null
  do {
    const { auditLog }: { auditLog: { rows: Entry[]; next: string | null } } = await session.ask(
      `query ($appId: String, $from: String, $who: String, $operation: String, $subjectId: String, $first: Int, $after: String) {
        auditLog(appId: $appId, from: $from, who: $who, operation: $operation, subjectId: $subjectId, first: $first, after: $after) {
          next rows { ${ENTRY} }
        }
      }`,
      {
        appId: options.app ?? null,
        from: from ?? null,
        who: options.who ?? null,
        operation: options.operation ?? null,
        subjectId: options.subject ?? null,
        first: Math.min(limit - found.length, PAGE),
        after,
      },
    )
    found.push(...auditLog.rows)
    after = auditLog.next
  } while (after !== null && found.length < limit)
  return found.slice(0, limit)
}

/** Each request repeats the last seconds, because an entry can be written later than one with a newer time. */
async function follow(
  context: Context,
  session: DashboardSession,
  options: Options,
  shown: readonly Entry[],
): Promise<void> {
  const { stopping, clocks } = context
  const begin = shown[0]?.at ?? new Date(clocks.wall()).toISOString()
  let newest = begin
  let known = new Set(shown.map(({ id }) => id))
  while (await isStillWanted(stopping)) {
    const from = new Date(Date.parse(newest) - OVERLAP_MS).toISOString()
    const latest = await entries(session, options, from, Number.MAX_SAFE_INTEGER)
    for (const entry of latest.toReversed())
      if (!known.has(entry.id) && entry.at >= begin) await print(context, entry, options)
    known = new Set([...known, ...latest.map(({ id }) => id)].slice(-MAX_KNOWN))
    newest = latest[0]?.at ?? newest
  }
}

const isStillWanted = (stopping: AbortSignal): Promise<boolean> =>
  delay(FOLLOW_EVERY_MS, true, { signal: stopping }).catch(() => false)

async function print({ terminal }: Context, entry: Entry, options: Options): Promise<void> {
  if (options.json) return terminal.print(JSON.stringify(entry))
  const { at, appId, actor, sentence, source } = entry
  const parts = [actor, sentence, source === null ? '' : `from ${source}`].filter(Boolean).join(' ')
  const where = appId === null ? '' : `  ${terminal.paint('dim', plainText(appId))}`
  await terminal.print(`${terminal.paint('dim', at)}${where}  ${plainText(parts)}`)
}
