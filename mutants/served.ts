/** The sources with one file changed, under a number that all modules of that copy carry. */
export interface Served {
  number: number
  /** absolute; null: nothing is changed, to see that the tests pass */
  file: string | null
  text: string
}

// The configuration is bundled before it is loaded, and so has modules of its own: both find the place by its name.
const place = Symbol.for('tollgate.mutants.served')
const shared = globalThis as { [place]?: Map<number, Served> }

/** Those that are being tried, by their numbers. */
export function served(): Map<number, Served> {
  shared[place] ??= new Map()
  return shared[place]
}
