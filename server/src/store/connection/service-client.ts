import pg from 'pg'
import { CONNECT_TIMEOUT_MS } from '../../domain/limits.ts'
import { NoPrimary, type Primary, pointTo } from './primary.ts'
import { type Settings, TransactionSettings } from './transaction-settings.ts'

/** Parts of pg's client that its types omit. */
interface Inside {
  /** of the server process, as reported when it accepted the connection */
  processID: number
  getStartupConf(): Record<string, string>
}

/**
 * In the form in which PostgreSQL reports them: a pooler tracks these per client and compares the texts. It rejects
 * most others in a startup packet.
 */
const STARTUP = { TimeZone: 'UTC', DateStyle: 'ISO, MDY' }

const READ_ONLY = '25006'

interface ServiceClientConfig extends pg.ClientConfig {
  /** chooses among several servers */
  primary?: Primary
}

export class ServiceClient extends pg.Client {
  readonly primary: Primary | null

  constructor(config?: ServiceClientConfig) {
    // The pool makes the password non-enumerable, so it is not copied with the rest.
    const hidden = config?.password === undefined ? {} : { password: config.password }
    // Shorter than the wait for a free connection, so that an unreachable server is reported as such.
    super({ ...config, ...hidden, connectionTimeoutMillis: CONNECT_TIMEOUT_MS })
    const inside = this as unknown as Inside
    const startup = inside.getStartupConf.bind(this)
    inside.getStartupConf = () => ({ ...startup(), ...STARTUP })
    this.primary = config?.primary ?? null
    // An error event without a listener ends the process. It may come in the packet that accepts the connection, before
    // anyone has this client. Statements in progress fail by themselves.
    this.on('error', () => {})
    this.connection.on('errorMessage', ({ code }: { code?: string }) => {
      if (code === READ_ONLY) this.#leave()
    })
  }

  override connect(): Promise<pg.Client>
  override connect(callback: ((error: Error) => void) | ((error: null, client: pg.Client) => void)): void
  override connect(callback?: (error: never, client: never) => void): Promise<pg.Client> | undefined {
    const done = callback as ((error: Error | null) => void) | undefined
    const connecting = this.primary ? this.#connectTo(this.primary) : super.connect()
    if (!done) return connecting
    connecting.then(() => done(null), done)
    return undefined
  }

  async #connectTo(primary: Primary): Promise<pg.Client> {
    const address = await primary.find()
    pointTo(this, address)
    try {
      await super.connect()
    } catch (error) {
      primary.doubt()
      throw error
    }
    primary.watch(this, address)
    return this
  }

  /** The server has become a standby: the next connection may find another. */
  #leave(): void {
    this.primary?.doubt()
    // The statement gets its own error first.
    setImmediate(() => this.connection.stream.destroy(new Error('the database accepts no writes any more')))
  }
}

/** Clients behind a pooler. */
const pooled = new WeakSet<pg.ClientBase>()

export const isPooled = (client: pg.ClientBase): boolean => pooled.has(client)

/** Applies settings to everything on a new connection: to its session, or through a pooler to each transaction. */
export async function applySettings(client: pg.ClientBase, settings: Settings): Promise<void> {
  if (await setIfDirect(client, settings)) return
  pooled.add(client)
  await new TransactionSettings(settings).attach(client)
}

/**
 * Sets them for the session, unless there is a pooler. A pooler reports a server process that does not exist, since the
 * real one changes.
 */
export async function setIfDirect(client: pg.ClientBase, settings: Settings): Promise<boolean> {
  const { processID } = client as unknown as Inside
  const { rows } = await client.query<{ direct: boolean; standby: boolean }>(SET_IF_DIRECT, [
    Object.keys(settings),
    Object.values(settings),
    processID,
  ])
  if (rows[0]?.standby && client instanceof ServiceClient && client.primary) {
    client.primary.doubt()
    throw new NoPrimary('the server has become a standby')
  }
  return rows[0]?.direct === true
}

const SET_IF_DIRECT = `select pg_backend_pid() = $3 as direct, pg_is_in_recovery() as standby,
    case when pg_backend_pid() = $3 then set_config(name, value, false) end
  from unnest($1::text[], $2::text[]) as s (name, value)`
