import { setTimeout as delay } from 'node:timers/promises'
import pg from 'pg'
import { CONNECT_TIMEOUT_MS } from '../../domain/limits.ts'
import type { ServerAddress } from './server-addresses.ts'

/** After a first server has responded that it accepts writes, how long to wait for the others. */
const SECOND_OPINION_MS = 1_000
/** A server that does not respond is queried again this often at most. */
const LOOK_AGAIN_MS = 2_000

/** None of the servers accepts writes, as during a failover. */
export class NoPrimary extends Error {}

/** A server that accepts writes. */
interface WritableServer {
  address: ServerAddress
  /** increases with every failover */
  timeline: number
}

/**
 * Finds the one of several servers that accepts writes. All are queried at once, so that a frozen or unreachable one
 * does not delay the others. If two accept writes, one is an old primary that was replaced: a failover starts a
 * timeline with a higher number, and lower ones are ruled out.
 */
export class Primary {
  readonly #addresses: readonly ServerAddress[]
  readonly #config: pg.ClientConfig
  #current: WritableServer | null = null
  #doubtful = true
  #looking: Promise<ServerAddress> | null = null
  #highest = 0
  #looked = false
  readonly #clients = new Map<pg.Client, ServerAddress>()

  constructor(addresses: readonly ServerAddress[], config: pg.ClientConfig) {
    this.#addresses = addresses
    this.#config = config
  }

  /** The server to connect to. */
  find(): Promise<ServerAddress> {
    if (this.#current && !this.#doubtful) return Promise.resolve(this.#current.address)
    this.#looking ??= this.#look().finally(() => {
      this.#looking = null
    })
    return this.#looking
  }

  /** Ends the connection when another server becomes the primary. */
  watch(client: pg.Client, address: ServerAddress): void {
    this.#clients.set(client, address)
    const lost = () => {
      if (this.#clients.delete(client)) this.doubt()
    }
    client.once('end', () => this.#clients.delete(client)).once('error', lost)
  }

  /** A connection failed or does not respond: all servers are queried before the next one is opened. */
  doubt(): void {
    this.#doubtful = true
  }

  /** The same, without waiting for the next connection. */
  async doubtNow(): Promise<void> {
    if (this.#looked) return
    this.#looked = true
    setTimeout(() => {
      this.#looked = false
    }, LOOK_AGAIN_MS).unref()
    this.doubt()
    // The next connection reports the error.
    await this.find().catch(() => {})
  }

  async #look(): Promise<ServerAddress> {
    const reasons: string[] = []
    const found: WritableServer[] = []
    const answers = this.#addresses.map(async (address) => {
      try {
        const timeline = await ask(this.#config, address)
        if (timeline === null) reasons.push(`${nameOf(address)} accepts no writes`)
        else if (timeline < this.#highest) reasons.push(`${nameOf(address)} was replaced by a failover`)
        else found.push({ address, timeline })
      } catch (error) {
        reasons.push(`${nameOf(address)}: ${reasonOf(error)}`)
      }
      if (!found.some((each) => each.address === address)) throw new Error('not this one')
    })
    const all = Promise.allSettled(answers)
    await Promise.any(answers).then(
      () => Promise.race([all, delay(SECOND_OPINION_MS)]),
      () => all,
    )
    const best = found.sort((a, b) => b.timeline - a.timeline)[0]
    if (!best) throw new NoPrimary(`no server accepts writes (${reasons.join('; ')})`)
    this.#settle(best)
    return best.address
  }

  #settle(best: WritableServer): void {
    this.#current = best
    this.#doubtful = false
    this.#highest = Math.max(this.#highest, best.timeline)
    for (const [client, address] of this.#clients) {
      if (address === best.address) continue
      this.#clients.delete(client)
      client.connection.stream.destroy(new Error('another server is the primary now'))
    }
  }
}

/** The server's timeline; null if it accepts no writes. */
async function ask(config: pg.ClientConfig, address: ServerAddress): Promise<number | null> {
  const client = new pg.Client({ ...config, connectionTimeoutMillis: CONNECT_TIMEOUT_MS })
  pointTo(client, address)
  client.on('error', () => {})
  // pg limits the time of connecting, not that of the response.
  const late = setTimeout(
    () => client.connection.stream.destroy(new Error('timeout expired')),
    CONNECT_TIMEOUT_MS,
  )
  try {
    await client.connect()
    const { rows } = await client.query<{ timeline: number | null }>(ASK)
    return rows[0]?.timeline ?? null
  } finally {
    clearTimeout(late)
    await client.end()
  }
}

/** Makes a new client connect there, whatever its URL is. */
export function pointTo(client: pg.Client, { host, port }: ServerAddress): void {
  client.host = host
  client.port = port
}

/** The first eight digits of the name of a WAL file are the timeline. */
export const TIMELINE = `('x' || substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8))::bit(32)::int`

const ASK = `select case when not pg_is_in_recovery() and not current_setting('transaction_read_only')::bool
  then ${TIMELINE} end as timeline`

const nameOf = ({ host, port }: ServerAddress) => (host.startsWith('/') ? host : `${host}:${port}`)

const reasonOf = (error: unknown) => {
  const { message, code } = error as NodeJS.ErrnoException
  return message || code || 'no answer'
}
