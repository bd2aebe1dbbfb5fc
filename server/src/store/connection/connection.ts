import { StartError } from '../../domain/errors.ts'
import type { Connection } from './database.ts'
import { Primary } from './primary.ts'
import { readServers } from './server-addresses.ts'
import type { DatabaseSetting } from './start-problems.ts'

/** How to reach the database at this URL. Pools that share a connection learn of a failover at the same time. */
export function connectionTo(url: string, setting: DatabaseSetting): Connection {
  const read = readServers(url)
  if (typeof read === 'string') throw new StartError(`${setting} ${read}.`)
  const { url: connectionString, servers } = read
  if (servers.length === 0) return { connectionString }
  return { connectionString, primary: new Primary(servers, { connectionString }) }
}
