import type { Breakage } from './breakage.ts'

/** What keeps a call that is sent again from being counted again. */
export const SKIP_THE_RECEIPT: Breakage = {
  what: 'no receipt is written for a call with an idempotency key',
  sources: [
    {
      file: 'operations/usage/record-batch.ts',
      find: 'function receiptsOf({ item: { key }, answer, uid }: Decision): Receipt[] {\n  if (!key) return []',
      replace:
        'function receiptsOf({ item: { key }, answer, uid }: Decision): Receipt[] {\n  if (!key || key) return []',
    },
  ],
}

/** What keeps two writers of one counter apart. */
export const WRITE_WITHOUT_COMPARING: Breakage = {
  what: 'a counter is written without comparing it with the value that was read',
  sources: [
    { file: 'store/usage/write-usage.ts', find: 'c.ctid = m.tid and c.app_id', replace: 'c.app_id' },
    { file: 'store/usage/write-usage.ts', find: ' and c.used = m.was', replace: '' },
  ],
}
