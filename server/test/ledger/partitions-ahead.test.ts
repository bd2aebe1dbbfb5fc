import { expect, it } from 'vitest'
import { preparePartitions } from '../../src/store/ledger/ledger-partitions.ts'
import { openStoreInCell } from '../harness/store.ts'

it('a partition that was made ahead is not open yet', async () => {
  const store = await openStoreInCell()
  await preparePartitions(store.pool)
  const { rows } = await store.pool.query(
    'select opened_at is not null as open from ledger_partition order by block',
  )
  await store.close()
  expect(rows).toEqual([{ open: true }, { open: false }])
})
