import pg, { type Connection } from 'pg'

/** PostgreSQL's settings, by name. */
export type Settings = Readonly<Record<string, string>>

/** The name under which each connection prepares the statement that sets them. */
const STATEMENT = 'tollgate_settings'

/**
 * Settings for one transaction. A pooler assigns any of its server connections to a transaction, so session settings
 * would reach other clients or get lost. These are sent with the first statement, in the same round trip.
 */
export class TransactionSettings {
  readonly #prepare: pg.QueryConfig
  /** `set local` for each, before a text or after its `begin` */
  readonly #texts: string[]

  constructor(settings: Settings) {
    const all = Object.entries(settings).map(([name, value]) => [name, pg.escapeLiteral(value)] as const)
    this.#texts = all.map(([name, value]) => `set local ${name} = ${value}`)
    // No condition is ever true, so all are evaluated and there is no row to skip.
    const conditions = all.map(([name, value]) => `set_config('${name}', ${value}, true) is null`)
    this.#prepare = { name: STATEMENT, text: `select where ${conditions.join(' or ')}` }
  }

  /** Makes every transaction of this connection start with them. */
  async attach(client: pg.ClientBase): Promise<void> {
    await client.query(this.#prepare)
    const send = (query: pg.Submittable) => Reflect.apply(pg.Client.prototype.query, client, [query])
    const query = (
      config: string | pg.QueryConfig | pg.Submittable,
      values?: unknown,
      callback?: unknown,
    ) => {
      if (typeof config !== 'string' && 'submit' in config) return send(config)
      const asked = new Query(config, values, callback)
      const answer = asked.callback ? undefined : answerTo(asked)
      if (LISTEN.test(asked.text)) asked.text = ''
      this.#startWith(client, asked)
      send(asked)
      return answer
    }
    client.query = query as typeof client.query
    attached.add((client as pg.Client).connection)
  }

  #startWith(client: pg.ClientBase, query: InsideQuery): void {
    const { submit, handleCommandComplete } = query
    let skip = 0
    query.submit = (connection) => {
      forgetUnparsed(connection, query.name)
      // Known only now: statements may have been waiting for others on this connection.
      if (client.getTransactionStatus() === 'I' && query.text !== '' && !ALONE.test(query.text)) {
        if (query.requiresPreparation()) {
          skip = 1
          writeBefore(connection)
        } else if (BEGIN.test(query.text)) {
          query.text = [query.text, ...this.#texts].join(';')
        } else {
          skip = this.#texts.length
          query.text = [...this.#texts, query.text].join(';')
        }
      }
      return submit.call(query, connection)
    }
    query.handleCommandComplete = (message, connection) => {
      if (skip > 0) skip--
      else handleCommandComplete.call(query, message, connection)
    }
  }
}

/** Connections whose statements start with settings. */
const attached = new WeakSet<Connection>()

/** For named statements that write their own messages; called first. The only response is a CommandComplete. */
export function writeSettings(connection: Connection, name: string): void {
  if (!attached.has(connection)) return
  writeBefore(connection)
  forgetUnparsed(connection, name)
}

/**
 * PgBouncer considers a name used from its first Parse on, even if PostgreSQL rejected the statement, and would not
 * parse it again. Closing an unused name does nothing.
 */
function forgetUnparsed(connection: Connection, name: string | undefined): void {
  const { parsedStatements } = connection as unknown as { parsedStatements: Record<string, string> }
  if (name && parsedStatements[name] === undefined) connection.close({ type: 'S', name }, true)
}

/** In one packet with the next statement. */
function writeBefore({ stream }: Connection): void {
  if (!stream.writable) return
  stream.cork()
  process.nextTick(() => stream.uncork())
  stream.write(SETTINGS_FIRST)
}

/** The messages Bind and Execute for the statement that sets them. */
const SETTINGS_FIRST = Buffer.concat([bind(STATEMENT), Buffer.from('E\0\0\0\x09\0\0\0\0\0', 'latin1')])

function bind(statement: string): Buffer {
  // The unnamed portal, the statement, and no formats, values and columns.
  const body = Buffer.from(`\0${statement}\0\0\0\0\0\0\0`)
  const head = Buffer.from('B\0\0\0\0')
  head.writeInt32BE(body.length + 4, 1)
  return Buffer.concat([head, body])
}

/** PostgreSQL rejects these in a transaction, and several statements in one text form one. */
const ALONE = /^\s*(create|drop) index concurrently\b/i
const BEGIN = /^\s*(begin|start transaction)\b/i
/** Would subscribe the next user of the server connection. */
const LISTEN = /^\s*(un)?listen\b/i

/** Fields of pg's queries that its types omit. */
interface InsideQuery extends pg.Submittable {
  text: string
  name?: string
  callback?: (error: Error | null, result: unknown) => void
  requiresPreparation(): boolean
  handleCommandComplete(message: unknown, connection: Connection): void
}

const Query = pg.Query as unknown as new (config: unknown, values: unknown, callback: unknown) => InsideQuery

function answerTo(query: InsideQuery): Promise<unknown> {
  return new Promise((resolve, reject) => {
    query.callback = (error, result) => (error ? reject(error) : resolve(result))
  })
}
