import { badUserInput, quote, TollgateError } from '../../domain/errors.ts'
import { MAX_NOTICES } from '../../domain/limits.ts'
import { addJob } from '../../store/jobs.ts'
import * as store from '../../store/notices.ts'
import { foundApp } from '../apps/apps.ts'
import { changeApp, type MemberCall } from '../call/member-call.ts'
import { askAgain } from './reconcile.ts'

type Reading = Pick<MemberCall, 'service'>

/** Newest first, from the one after the one with the id `after`. */
export async function notices(
  { service }: Reading,
  appId: string,
  filter: store.NoticeFilter,
  first: number,
  after: string | null,
): Promise<store.NoticeRow[]> {
  await foundApp(service.pool, appId)
  if (first < 0 || first > MAX_NOTICES) throw badUserInput(`first must be from 0 to ${MAX_NOTICES}`, 'first')
  const before = after === null ? null : seqOf(after)
  if (after !== null && before === null) throw badUserInput('after must be the id of a notice', 'after')
  return store.listNotices(service.pool, appId, filter, before, first)
}

export async function notice({ service }: Reading, appId: string, id: string): Promise<store.NoticeRow> {
  await foundApp(service.pool, appId)
  const seq = seqOf(id)
  const found = seq === null ? null : await store.findNotice(service.pool, appId, seq)
  if (!found) throw noticeNotFound(id)
  return found
}

export async function noticeCounts({ service }: Reading, appId: string) {
  await foundApp(service.pool, appId)
  return store.countNotices(service.pool, appId)
}

export async function replayNotice(call: MemberCall, appId: string, id: string): Promise<store.NoticeRow> {
  const seq = seqOf(id)
  if (seq === null) throw noticeNotFound(id)
  await replay(call, appId, seq)
  return notice(call, appId, id)
}

export function replayFailedNotices(call: MemberCall, appId: string): Promise<number> {
  return replay(call, appId, null)
}

function replay(call: MemberCall, appId: string, seq: number | null): Promise<number> {
  return changeApp(call, appId, async (tx) => {
    const reopened = await store.reopenNotices(tx, appId, seq)
    if (seq !== null && reopened.length === 0) throw noticeNotFound(String(seq))
    for (const each of reopened) {
      await addJob(tx, 'handle-notice', { appId, seq: each }, `notice:${appId}:${each}`)
    }
    return reopened.length
  })
}

export function reconcileBilling(call: MemberCall, appId: string): Promise<number> {
  return changeApp(call, appId, (tx) => askAgain(tx, appId, 'all'))
}

const seqOf = (id: string): number | null => (/^\d{1,15}$/.test(id) ? Number(id) : null)

const noticeNotFound = (id: string) => new TollgateError('NOTICE_NOT_FOUND', `Notice not found: ${quote(id)}`)
