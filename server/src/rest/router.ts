import type { Route } from './routes.ts'

/** A request whose path has a route, or only other methods. `path` has its values; null: they are not UTF-8. */
export type Match<Routed> =
  | { found: Routed; path: Readonly<Record<string, string>> | null }
  | { found: null; allow: readonly string[] }

interface Node<Routed> {
  fixed: Map<string, Node<Routed>>
  /** a segment with a value; routes may give it different names */
  any: Node<Routed> | null
  methods: Map<string, Routed>
}

const newNode = <Routed>(): Node<Routed> => ({ fixed: new Map(), any: null, methods: new Map() })

/** Finds the route of a path, segment by segment. A fixed segment is preferred to one with a value. */
export class Router<Routed extends { route: Pick<Route, 'method' | 'path'>; inPath: readonly string[] }> {
  readonly #root = newNode<Routed>()

  constructor(routed: readonly Routed[]) {
    for (const one of routed) this.#add(one)
  }

  /** Null: no route has this path. */
  match(method: string, path: string): Match<Routed> | null {
    const segments = path.split('/').slice(1)
    const values: string[] = []
    let node: Node<Routed> | null = this.#root
    for (const segment of segments) {
      const fixed: Node<Routed> | undefined = node.fixed.get(segment)
      if (!fixed) values.push(segment)
      node = fixed ?? (segment === '' ? null : node.any)
      if (!node) return null
    }
    if (node.methods.size === 0) return null
    // A HEAD is a GET whose answer has no body.
    const found = node.methods.get(method === 'HEAD' ? 'GET' : method)
    if (!found) return { found: null, allow: allowed(node.methods) }
    return { found, path: decoded(found.inPath, values) }
  }

  #add(routed: Routed): void {
    const { method, path } = routed.route
    let node = this.#root
    for (const segment of path.split('/').slice(1)) {
      if (segment.startsWith('{')) {
        node.any ??= newNode()
        node = node.any
      } else {
        const next = node.fixed.get(segment) ?? newNode()
        node.fixed.set(segment, next)
        node = next
      }
    }
    if (node.methods.has(method)) throw new Error(`two operations have the route ${method} ${path}`)
    node.methods.set(method, routed)
  }
}

const allowed = (methods: ReadonlyMap<string, unknown>): string[] =>
  [...methods.keys()].flatMap((method) => (method === 'GET' ? ['GET', 'HEAD'] : [method]))

function decoded(names: readonly string[], segments: readonly string[]): Record<string, string> | null {
  try {
    return Object.fromEntries(names.map((name, i) => [name, decodeURIComponent(segments[i] ?? '')]))
  } catch (error) {
    if (error instanceof URIError) return null
    throw error
  }
}
