import type { Tx } from '../../src/store/connection/database.ts'

export interface SentStatement {
  name: string
  text: string
}

/** The same connection, on which something happens once, before the first statement that is `due`. */
export function before(
  client: Tx,
  due: (statement: SentStatement) => boolean,
  happens: () => Promise<void>,
): Tx {
  let happened = false
  const query = (statement: string | Partial<SentStatement>, ...rest: unknown[]) => {
    const send = () => (client.query as (...all: unknown[]) => unknown)(statement, ...rest)
    const { name = '', text = '' } = typeof statement === 'string' ? { text: statement } : statement
    if (happened || !due({ name, text })) return send()
    happened = true
    return happens().then(send)
  }
  return new Proxy(client, {
    get: (target, name) => (name === 'query' ? query : Reflect.get(target, name, target)),
  })
}
