/** The address of a database server: a host name or address, or the folder of its socket. */
export interface ServerAddress {
  host: string
  port: number
}

const DEFAULT_PORT = 5432

/** The parts of a URL that `new URL` does not understand: `user@one:5432,two:5432/name?…`. */
const URL_PARTS =
  /^(?<scheme>postgres(?:ql)?:\/\/)(?<user>[^@/?#]*@)?(?<hosts>[^/?#]*)(?<path>\/[^?#]*)?(?<query>\?.*)?$/
const HOST = /^(?<host>\[[^\]]+\]|[^:]*)(?::(?<port>\d{0,5}))?$/

interface ServerList {
  /** the URL without them, as pg expects it */
  url: string
  /** several servers to choose from; empty: there is no choice */
  servers: ServerAddress[]
}

/**
 * Parses a URL in libpq's format, with one or several servers. Even a single one may be checked:
 * `target_session_attrs`. A string is an error message.
 */
export function readServers(text: string): ServerList | string {
  const parts = URL_PARTS.exec(text)?.groups
  if (!/^postgres(ql)?:\/\//.test(text)) return 'must start with postgres:// or postgresql://'
  const one = { url: text, servers: [] }
  if (!parts) return one
  const query = new URLSearchParams(parts.query ?? '')
  const wanted = query.get('target_session_attrs')
  if (wanted !== null && wanted !== 'read-write' && wanted !== 'primary')
    return `only supports target_session_attrs=read-write; it is ${wanted}`
  if (wanted === null && !parts.hosts?.includes(',') && !query.get('host')?.includes(',')) return one
  const named = query.get('host')?.split(',') ?? []
  const ports = query.get('port')?.split(',') ?? []
  const list =
    named.length > 0
      ? named.map((host, i) => ({ host, port: ports[i] ?? ports[0] }))
      : inAuthority(parts.hosts)
  if (list === null) return 'must list servers as host:port, separated by commas'
  const servers: ServerAddress[] = []
  for (const { host, port } of list) {
    const number = Number(port || DEFAULT_PORT)
    if (!(Number.isInteger(number) && number > 0 && number < 65_536)) return `has an invalid port: ${port}`
    if (list.length > 1 && host === '') return 'must list servers as host:port, separated by commas'
    servers.push({ host: host || 'localhost', port: number })
  }
  for (const name of ['host', 'port', 'target_session_attrs']) query.delete(name)
  const rest = query.size > 0 ? `?${query}` : ''
  return { url: `${parts.scheme}${parts.user ?? ''}localhost${parts.path ?? ''}${rest}`, servers }
}

function inAuthority(hosts = ''): { host: string; port?: string }[] | null {
  const list = hosts.split(',').map((each) => HOST.exec(each)?.groups)
  if (list.some((each) => !each)) return null
  return list.map((each) => ({
    host: decodeURIComponent((each?.host ?? '').replace(/^\[|\]$/g, '')),
    ...(each?.port && { port: each.port }),
  }))
}
