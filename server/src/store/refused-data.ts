import pg from 'pg'

/**
 * The classes of SQLSTATE by which PostgreSQL refuses what a statement was given or found: cardinality, data, integrity,
 * check options, limits of the program, an exception raised by a trigger, damaged rows.
 */
const OF_THE_DATA = new Set(['21', '22', '23', '44', '54', 'P0', 'XX'])

/** Whether PostgreSQL refused a statement for some of its data, and so did nothing of it: the rest may pass by itself. */
export function refusesData(error: unknown): boolean {
  return error instanceof pg.DatabaseError && OF_THE_DATA.has((error.code ?? '').slice(0, 2))
}
