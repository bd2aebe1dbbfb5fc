import { type Retiring, retireTogether } from '../../src/operations/upkeep/retire-partition.ts'
import type { Pool } from '../../src/store/connection/database.ts'

/** Retires a closed partition of one ledger. */
export async function retirePartition(
  pool: Pool,
  block: number,
  { archive, ...how }: Retiring,
): Promise<boolean> {
  const [done] = await retireTogether([{ pool, ...(archive && { archive }) }], block, how)
  return done === true
}
