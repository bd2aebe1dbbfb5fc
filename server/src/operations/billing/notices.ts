import { badUserInput, quote, TollgateError } from '../../domain/errors.ts'
import { MAX_NOTICES } from '../../domain/limits.ts'
import { addJob } from '../../store/jobs.ts'
import * as store from '../../store/notices.ts'
import { foundApp } from '../apps/apps.ts'
import type { Call } from '../call/call.ts'
import { mutate } from '../call/mutate.ts'
import { askAgain } from './reconcile.ts'

type Reading = Pick<Call, 'service' | 'appId'>

/** Newest first, starting after the id `after`. */
export async function notices(
  { service, appId }: Reading,
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

export async function notice({ service, appId }: Reading, id: string): Promise<store.NoticeRow> {
  await foundApp(service.pool, appId)
  const seq = seqOf(id)
  const found = seq === null ? null : await store.findNotice(service.pool, appId, seq)
  if (!found) throw noticeNotFound(id)
  return found
}

export async function noticeCounts({ service, appId }: Reading) {
  await foundApp(service.pool, appId)
  return store.countNotices(service.pool, appId)
}

export async function replayNotice(call: Call, id: string): Promise<store.NoticeRow> {
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

const noticeNotFound = (id: string) => new TollgateError('NOTICE_NOT_FOUND', `Notice not found: ${quote(id)}`)
