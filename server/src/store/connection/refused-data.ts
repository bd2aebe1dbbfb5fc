import pg from 'pg'
import { isOutage } from './outage.ts'

/**
 * SQLSTATE classes with which PostgreSQL refuses the data a statement was given or found: cardinality, data, integrity,
 * check options, program limits, an exception raised by a trigger, damaged rows.
 */
const OF_THE_DATA = new Set(['21', '22', '23', '44', '54', 'P0', 'XX'])

/**
 * Whether PostgreSQL rejected a statement because of some of its data: nothing was done, and the rest may succeed
 * separately.
 */
export function refusesData(error: unknown): boolean {
  return (
    error instanceof pg.DatabaseError && OF_THE_DATA.has((error.code ?? '').slice(0, 2)) && !isOutage(error)
  )
}
