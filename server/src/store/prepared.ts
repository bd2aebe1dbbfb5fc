import type { Connection, Submittable } from 'pg'
import type { Tx } from './database.ts'

/** A row as PostgreSQL sends it: the texts of its columns, in their order. */
type Texts = (string | null)[]

/**
 * A statement of the hot paths: prepared once on each connection, and answered with the mere texts of its rows.
 * pg's own queries have every answer describe its columns, which takes longer than to read the few rows.
 */
export class Prepared<Row extends Texts> {
  readonly #name: string
  readonly #text: string

  constructor(name: string, text: string) {
    this.#name = name
    this.#text = text
  }

  run(client: Tx, values: Texts): Promise<Row[]> {
    return new Promise((resolve, reject) => {
      client.query(new Execution(this.#name, this.#text, values, resolve, reject))
    })
  }
}

/** What pg notes of a connection: the texts of the statements that are prepared on it, by their names. */
interface NotingConnection extends Connection {
  readonly parsedStatements: Readonly<Record<string, string>>
}

/** One run of a statement, as pg's client leads it. */
class Execution<Row extends Texts> implements Submittable {
  readonly name: string
  readonly text: string
  readonly values: Texts
  readonly #rows: Row[] = []
  readonly #resolve: (rows: Row[]) => void
  readonly #reject: (error: unknown) => void

  constructor(
    name: string,
    text: string,
    values: Texts,
    resolve: (rows: Row[]) => void,
    reject: (error: unknown) => void,
  ) {
    this.name = name
    this.text = text
    this.values = values
    this.#resolve = resolve
    this.#reject = reject
  }

  submit(connection: Connection): void {
    const { name, text, values } = this
    const prepared = (connection as NotingConnection).parsedStatements[name] === text
    connection.stream.cork()
    if (!prepared) connection.parse({ name, text, types: [] }, true)
    connection.bind({ statement: name, values }, true)
    connection.execute({}, true)
    connection.sync()
    connection.stream.uncork()
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
