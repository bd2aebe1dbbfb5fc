import type { Context, OwnerContext } from './context.ts'

interface Described {
  /**
   * `S` and the section of the spec, then a letter for the part and the number of the rule in it; `G` and a topic
   * for what the spec leaves open (docs/spec-gaps.md). The last part is a name, so that others can be put in between.
   */
  id: string
  section: string
  /** what must hold, in one sentence */
  says: string
}

/** One sentence of the spec that can be tried from outside. `run` throws when it does not hold. */
export type Audit = Described &
  (
    | { needs: 'key'; run(context: Context): Promise<void> }
    | { needs: 'dashboard'; run(context: OwnerContext): Promise<void> }
  )

/** Makes the audits of one section: those that need a key, and those that need an owner of the dashboard too. */
export const section = (name: string) => ({
  withKey: (id: string, says: string, run: (context: Context) => Promise<void>): Audit => ({
    ...{ id, section: name, says },
    needs: 'key',
    run,
  }),
  withOwner: (id: string, says: string, run: (context: OwnerContext) => Promise<void>): Audit => ({
    ...{ id, section: name, says },
    needs: 'dashboard',
    run,
  }),
})

export const ID_SCHEME = /^(S[2-9]\.[A-Z]+\d*|G\.[A-Z]+)\.[a-z0-9]+(-[a-z0-9]+)*$/
