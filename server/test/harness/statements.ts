import pg from 'pg'

export interface Statement {
  text: string
  values: unknown[]
  name: string | null
  /** the connection it goes to */
  client: object
}

/** Jobs, the upkeep of statistics, and the publisher's polling. */
const BACKGROUND = /graphile_worker|pg_stat_user_tables|^analyze |^select exists \(select from event_outbox\)/

type Callback = (error: Error) => void

/**
 * Shows every statement that this process sends to PostgreSQL before it goes out, but for those of the background,
 * which looks for work of its own accord. One for which an error is returned fails with it instead. Returns how to stop.
 */
export function watchStatements(see: (statement: Statement) => Error | undefined): () => void {
  const { query } = pg.Client.prototype
  const watched = function (this: pg.Client, ...args: unknown[]): unknown {
    const statement = { ...statementOf(args), client: this }
    const error = BACKGROUND.test(statement.text) ? undefined : see(statement)
    if (!error) return Reflect.apply(query, this, args)
    const [first] = args
    if (isSubmittable(first)) return process.nextTick(() => first.handleError(error))
    const callback = args.find((arg): arg is Callback => typeof arg === 'function')
    if (!callback) return Promise.reject(error)
    process.nextTick(callback, error)
  }
  pg.Client.prototype.query = watched as typeof query
  return () => {
    pg.Client.prototype.query = query
  }
}

/** A statement that pg lets handle its answer itself. */
const isSubmittable = (given: unknown): given is { handleError: Callback } =>
  typeof given === 'object' && given !== null && 'handleError' in given

function statementOf([first, second]: unknown[]): Omit<Statement, 'client'> {
  const config = (typeof first === 'string' ? { text: first } : first) as Partial<Statement>
  const values = config.values ?? (Array.isArray(second) ? second : [])
  return { text: config.text ?? '', values, name: config.name ?? null }
}
