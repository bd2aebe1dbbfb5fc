/** The sources with one file changed, under a name that all modules of that copy carry. */
export interface Copy {
  /** absolute */
  file: string
  text: string
}

// The configuration is bundled before it is loaded, and so has modules of its own: both find the place by its name.
const place = Symbol.for('tollgate.mutants.copies')
const shared = globalThis as { [place]?: Map<string, Copy> }

/** Those that are being tried, by what is added to their modules' names. */
export function copies(): Map<string, Copy> {
  shared[place] ??= new Map()
  return shared[place]
}
