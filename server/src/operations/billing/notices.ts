import { refsIn } from '../../billing/notice.ts'
import { badUserInput, quote, TollgateError } from '../../domain/errors.ts'
import { checkText } from '../../domain/identifier.ts'
import { MAX_NOTICES } from '../../domain/limits.ts'
import { named, type SentencePart } from '../../domain/sentence.ts'
import { payersOf } from '../../store/audit/names.ts'
import * as store from '../../store/billing/notices.ts'
import { addJob } from '../../store/jobs/jobs.ts'
import { requireApp } from '../apps/apps.ts'
import type { Call } from '../call/call.ts'
import { mutate } from '../call/mutate.ts'
import { askAgain } from './reconcile.ts'

type Reading = Pick<Call, 'service' | 'appId'>

/** An event and its user; null: unknown. */
export type ShownNotice = store.NoticeRow & { user: SentencePart | null }

/** Newest first, starting after the id `after`. */
export async function notices(
  { service, appId }: Reading,
  filter: store.NoticeFilter,
  first: number,
  after: string | null,
): Promise<ShownNotice[]> {
  await requireApp(service.pool, appId)
  if (first < 0 || first > MAX_NOTICES) throw badUserInput(`first must be from 0 to ${MAX_NOTICES}`, 'first')
  checkText('provider', filter.provider)
  checkText('type', filter.type)
  const before = after === null ? null : seqOf(after)
  if (after !== null && before === null)
    throw badUserInput('after must be the ID of a webhook event', 'after')
  return withUsers({ service, appId }, await store.listNotices(service.pool, appId, filter, before, first))
}

export async function notice({ service, appId }: Reading, id: string): Promise<ShownNotice> {
  await requireApp(service.pool, appId)
  const seq = seqOf(id)
  const found = seq === null ? null : await store.findNotice(service.pool, appId, seq)
  if (!found) throw noticeNotFound(id)
  const [shown] = await withUsers({ service, appId }, [found])
  return shown ?? { ...found, user: null }
}

async function withUsers(
  { service, appId }: Reading,
  rows: readonly store.NoticeRow[],
): Promise<ShownNotice[]> {
  const refs = rows.map(({ provider, payload }) => refsIn(payload).map((ref) => ({ provider, ref })))
  const payers = await payersOf(service.pool, appId, refs.flat())
  return rows.map((row, i) => {
    const payer = (refs[i] ?? []).map(({ provider, ref }) => payers.get(`${provider} ${ref}`)).find(Boolean)
    const user = payer ? named(payer.name ?? payer.id, { kind: 'USER', appId, id: payer.id }) : null
    return { ...row, user }
  })
}

export async function noticeCounts({ service, appId }: Reading) {
  await requireApp(service.pool, appId)
  return store.countNotices(service.pool, appId)
}

export async function replayNotice(call: Call, id: string): Promise<ShownNotice> {
  const seq = seqOf(id)
  if (seq === null) throw noticeNotFound(id)
  await replay(call, seq)
  return notice(call, id)
}

export function replayFailedNotices(call: Call): Promise<number> {
  return replay(call, null)
}

function replay(call: Call, seq: number | null): Promise<number> {
  const { appId } = call
  return mutate(call, async (tx) => {
    const reopened = await store.reopenNotices(tx, appId, seq)
    if (seq !== null && reopened.length === 0) throw noticeNotFound(String(seq))
    for (const each of reopened) {
      await addJob(tx, 'handle-notice', { appId, seq: each }, `notice:${appId}:${each}`)
    }
    return reopened.length
  })
}

export function reconcileBilling(call: Call): Promise<number> {
  const { appId } = call
  return mutate(call, (tx) => askAgain(tx, appId, 'all'))
}

const seqOf = (id: string): number | null => (/^\d{1,15}$/.test(id) ? Number(id) : null)

const noticeNotFound = (id: string) =>
  new TollgateError('NOTICE_NOT_FOUND', `Webhook event not found: ${quote(id)}`)
