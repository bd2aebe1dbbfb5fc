import type { HomeDb } from '../connection/places.ts'

/** Settings of a database that the service depends on, as PostgreSQL reports them. */
export interface DatabaseHealth {
  version: string
  encoding: string
  fsync: string
  fullPageWrites: string
  synchronousCommit: string
  autovacuum: string
  maxConnections: number
  /** of other sessions */
  connections: number
  /** connections that only superusers get */
  reserved: number
  bytes: number
  /** by the database's clock, in milliseconds since 1970 */
  now: number
  /** whether this connection is encrypted */
  tls: boolean
}

/** Reads the facts that `tollgate doctor` checks. It changes nothing. */
export async function databaseHealth(db: HomeDb): Promise<DatabaseHealth> {
  const { rows } = await db.query<DatabaseHealth>(
    `select current_setting('server_version') as version,
       (select pg_encoding_to_char(encoding) from pg_database where datname = current_database()) as encoding,
       current_setting('fsync') as fsync,
       current_setting('full_page_writes') as "fullPageWrites",
       current_setting('synchronous_commit') as "synchronousCommit",
       current_setting('autovacuum') as autovacuum,
       current_setting('max_connections')::int as "maxConnections",
       (select count(*)::int from pg_stat_activity where backend_type = 'client backend' and pid <> pg_backend_pid())
         as connections,
       current_setting('superuser_reserved_connections')::int as reserved,
       pg_database_size(current_database())::float8 as bytes,
       (extract(epoch from clock_timestamp()) * 1000)::float8 as now,
       coalesce((select ssl from pg_stat_ssl where pid = pg_backend_pid()), false) as tls`,
  )
  const [found] = rows
  if (!found) throw new Error('no answer')
  return found
}
