import pg from 'pg'
import { distribute } from '../../src/operations/upkeep/remote-cells.ts'
import type { Pool } from '../../src/store/connection/database.ts'

// A run on a Citus cluster (TOLLGATE_TEST_CITUS_URL names a database of its coordinator, as a superuser): every test
// database is one of the coordinator and of each worker, and the cells but the first two are on workers.

/** The cells of such a run. */
export const CITUS_CELLS = 4

const at = (server: string, database: string): string => {
  const url = new URL(server)
  url.pathname = `/${database}`
  return url.href
}

async function execute(url: string, ...statements: string[]): Promise<void> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    for (const statement of statements) await client.query(statement)
  } finally {
    await client.end()
  }
}

/** The servers of a cluster: the coordinator, then its workers. */
export async function serversOf(coordinator: string): Promise<string[]> {
  const client = new pg.Client({ connectionString: coordinator })
  await client.connect()
  try {
    const { rows } = await client.query<{ host: string; port: number }>(
      `select nodename as host, nodeport as port from pg_dist_node where groupid <> 0 order by nodeid`,
    )
    const workers = rows.map(({ host, port }) => {
      const url = new URL(coordinator)
      url.host = `${host}:${port}`
      return url.href
    })
    return [coordinator, ...workers]
  } finally {
    await client.end()
  }
}

/** Makes a database of the coordinator one of the whole cluster. */
export async function clusterDatabase(servers: readonly string[], name: string): Promise<void> {
  const [coordinator = '', ...workers] = servers
  for (const worker of workers) await execute(worker, `create database ${name}`)
  for (const server of servers)
    await execute(
      at(server, name),
      'create extension citus',
      'create extension postgres_fdw',
      'create extension if not exists pg_trgm',
    )
  const { hostname, port } = new URL(coordinator)
  await execute(
    at(coordinator, name),
    `select citus_set_coordinator_host('${hostname}', ${port})`,
    ...workers.map((worker) => {
      const { hostname: host, port: own } = new URL(worker)
      return `select citus_add_node('${host}', ${own})`
    }),
  )
}

export async function distributeCells(pool: Pool): Promise<void> {
  for (let cell = 2; cell < CITUS_CELLS; cell++) await distribute(pool, cell, () => {})
}

/** No database can be copied while somebody is connected, and Citus keeps a process in each of its own. */
export async function makeTemplate(servers: readonly string[], name: string): Promise<void> {
  for (const server of servers)
    await execute(
      server,
      `alter database ${name} allow_connections false`,
      `select pg_terminate_backend(pid, 10000) from pg_stat_activity where datname = '${name}'`,
    )
}

export async function copyCluster(servers: readonly string[], template: string, name: string): Promise<void> {
  for (const server of servers)
    await execute(server, `create database ${name} template ${template} strategy file_copy`)
  const [coordinator = ''] = servers
  await execute(
    at(coordinator, name),
    `do $$ declare server text; begin
       for server in select srvname from pg_foreign_server loop
         execute format('alter server %I options (set dbname %L)', server, current_database());
       end loop;
     end $$`,
  )
}

export async function dropCluster(servers: readonly string[], name: string): Promise<void> {
  for (const server of servers) await execute(server, `drop database if exists ${name} with (force)`)
}
