import type { Breakage } from './breakage.ts'

/** What keeps a call that is sent again from being counted again. */
export const SKIP_THE_RECEIPT: Breakage = {
  what: 'no receipt is written for a call with an idempotency key',
  sources: [
    {
      file: 'operations/usage/spend-batch.ts',
      find: 'function receiptsOf({ item: { key }, answer, uid, split }: Decision): Receipt[] {\n  if (!key) return []',
      replace:
        'function receiptsOf({ item: { key }, answer, uid, split }: Decision): Receipt[] {\n  if (!key || key) return []',
    },
  ],
}

/** What keeps two writers of one counter apart. */
export const WRITE_WITHOUT_COMPARING: Breakage = {
  what: 'a counter is written without comparing it with the value that was read',
  sources: [
    { file: 'store/usage/write-usage.ts', find: 'c.ctid = m.tid and c.used = m.was and ', replace: '' },
  ],
}

/** What makes a decision from memory as good as one from the database. */
export const WRITE_WITHOUT_CONFIRMING: Breakage = {
  what: 'usage is written without confirming that the app and the user are unchanged since the decision',
  sources: [
    {
      file: 'store/usage/write-usage.ts',
      find: 'app.id = m.app_id and app.version = m.version',
      replace: 'app.id = m.app_id',
    },
    {
      file: 'store/usage/write-usage.ts',
      find: 'u.ctid = m.user_tid and u.xmin = m.user_version and u.app_id',
      replace: 'u.app_id',
    },
  ],
}

/** What keeps decisions about several sources of one user apart. */
export const WRITE_WITHOUT_VERSION: Breakage = {
  what: "credits are written without comparing the spender's version with the one that was read",
  sources: [
    { file: 'store/usage/write-spending.ts', find: ' and s.version = m.spender_version', replace: '' },
  ],
}
