import pg, { type Connection, type Submittable } from 'pg'
import type { Pool, Tx } from './database.ts'
import type { HomeDb } from './places.ts'
import { writeSettings } from './transaction-settings.ts'

/** A row as PostgreSQL sends it: its columns as text, in order. */
type Texts = (string | null)[]

/**
 * A statement that is executed often: prepared once per connection, with rows returned as plain text. pg's own queries
 * request a description of the columns with every result, which takes longer than reading a few rows, and create an
 * object per row, which takes longer than reading many.
 */
export class Prepared<Row extends Texts> {
  readonly #name: string
  readonly #text: string
  /** the unnamed portal and its statement, as in a message */
  readonly #portal: Buffer

  constructor(name: string, text: string) {
    this.#name = name
    this.#text = text
    this.#portal = Buffer.from(`\0${name}\0`)
  }

  run(client: Tx, values: Texts): Promise<Row[]> {
    return new Promise((resolve, reject) => {
      client.query(new Execution(this.#name, this.#text, this.#portal, values, resolve, reject))
    })
  }

  /** The same on any connection of a pool. */
  async runOn(db: HomeDb, values: Texts): Promise<Row[]> {
    if (!(db instanceof pg.Pool)) return this.run(db as Tx, values)
    const client = await (db as Pool).connect()
    try {
      const rows = await this.run(client, values)
      client.release()
      return rows
    } catch (error) {
      // As pg does: the connection may be broken.
      client.release(error as Error)
      throw error
    }
  }
}

/** pg's record of a connection: the statements prepared on it, by name. */
interface NotingConnection extends Connection {
  readonly parsedStatements: Readonly<Record<string, string>>
}

/** One execution of a statement, driven by pg's client. */
class Execution<Row extends Texts> implements Submittable {
  readonly name: string
  readonly text: string
  readonly portal: Buffer
  readonly values: Texts
  readonly #rows: Row[] = []
  readonly #resolve: (rows: Row[]) => void
  readonly #reject: (error: unknown) => void

  constructor(
    name: string,
    text: string,
    portal: Buffer,
    values: Texts,
    resolve: (rows: Row[]) => void,
    reject: (error: unknown) => void,
  ) {
    this.name = name
    this.text = text
    this.portal = portal
    this.values = values
    this.#resolve = resolve
    this.#reject = reject
  }

  submit(connection: Connection): void {
    const { name, text, values } = this
    writeSettings(connection, name)
    const prepared = (connection as NotingConnection).parsedStatements[name] === text
    if (!prepared) connection.parse({ name, text, types: [] }, true)
    // pg fails whatever is running on a connection that ended.
    if (connection.stream.writable) connection.stream.write(bindAndExecute(this.portal, values))
  }

  handleDataRow({ fields }: { fields: Row }): void {
    this.#rows.push(fields)
  }

  handleCommandComplete(): void {}

  handleReadyForQuery(): void {
    this.#resolve(this.#rows)
  }

  handleError(error: unknown): void {
    this.#reject(error)
  }
}

const EXECUTE_AND_SYNC = Buffer.from('E\0\0\0\x09\0\0\0\0\0S\0\0\0\x04', 'latin1')

/** The messages Bind, Execute and Sync in one buffer; pg makes one for each. */
function bindAndExecute(portal: Buffer, values: Texts): Buffer {
  const head = 5 + portal.length
  let end = head + 4 + 2
  for (const value of values) end += 4 + (value === null ? 0 : Buffer.byteLength(value))
  const message = Buffer.allocUnsafe(end + EXECUTE_AND_SYNC.length)
  message.write('B')
  message.writeInt32BE(end - 1, 1)
  message.set(portal, 5)
  // All values are sent as text,
  message.writeInt16BE(0, head)
  message.writeInt16BE(values.length, head + 2)
  let at = head + 4
  for (const value of values) {
    const bytes = value === null ? -1 : message.write(value, at + 4)
    message.writeInt32BE(bytes, at)
    at += 4 + Math.max(bytes, 0)
  }
  // and all columns are returned as text.
  message.writeInt16BE(0, at)
  message.set(EXECUTE_AND_SYNC, end)
  return message
}
