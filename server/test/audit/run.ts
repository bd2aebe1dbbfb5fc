import type { Audit } from './audit.ts'
import type { Contexts } from './context.ts'

export type Outcome = { kind: 'held' } | { kind: 'needs owner' } | { kind: 'failed'; error: unknown }

export async function runAudit(audit: Audit, { withKey, withOwner }: Contexts): Promise<Outcome> {
  try {
    if (audit.needs === 'key') await audit.run(withKey)
    else if (withOwner) await audit.run(withOwner)
    else return { kind: 'needs owner' }
    return { kind: 'held' }
  } catch (error) {
    return { kind: 'failed', error }
  }
}

/** Runs all of them, `atOnce` at a time, and reports each in the order of the list. */
export async function runAudits(
  audits: readonly Audit[],
  contexts: Contexts,
  atOnce: number,
  report: (audit: Audit, outcome: Outcome) => void,
): Promise<void> {
  const outcomes: (Outcome | undefined)[] = []
  let next = 0
  let reported = 0
  const work = async () => {
    for (let i = next++; i < audits.length; i = next++) {
      const audit = audits[i]
      if (audit) outcomes[i] = await runAudit(audit, contexts)
      for (;;) {
        const [audit, outcome] = [audits[reported], outcomes[reported]]
        if (!audit || !outcome) break
        reported++
        report(audit, outcome)
      }
    }
  }
  await Promise.all(Array.from({ length: atOnce }, work))
}
