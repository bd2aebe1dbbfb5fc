import { Prepared } from '../connection/prepared.ts'

/** Names the parameters of a statement one after the other, each a list. */
export function parameters(): Take {
  let taken = 0
  return (...types) => types.map((type) => `$${++taken}::${type}[]`).join(', ')
}
export type Take = (...types: string[]) => string

export const writingReceipts = (take: Take, moved: string) => `receipt as (
  insert into idempotency (app_id, scope, key, request, results, user_uid)
  select app_id, scope, key, decode(request, 'hex'), results::json, user_uid
  from unnest(${take('text', 'text', 'text', 'text', 'text', 'int', 'bigint')})
    as r (app_id, scope, key, request, results, move, user_uid)
  where move is null or move = any(array(${moved}))
)`

/** Where nothing was counted, only receipts are written, and no cell is concerned. */
export const WRITE_RECEIPTS = new Prepared<[ord: null]>(
  'write-receipts',
  `with ${writingReceipts(parameters(), 'select null::int')}
select null where false`,
)
