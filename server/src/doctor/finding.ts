/** Time limit of a check. */
export const CHECK_MS = 5_000

export interface Finding {
  /** the checked subject */
  check: string
  /** skipped: it does not apply to this installation, or cannot be examined now */
  status: 'ok' | 'warning' | 'problem' | 'skipped'
  message: string
  /** advice; null: nothing to do */
  fix: string | null
}

/** A finding whose check is named by the caller. */
export type Result = Omit<Finding, 'check'>

export const ok = (message: string): Result => ({ status: 'ok', message, fix: null })
export const skipped = (message: string): Result => ({ status: 'skipped', message, fix: null })
export const warning = (message: string, fix: string): Result => ({ status: 'warning', message, fix })
export const problem = (message: string, fix: string | null): Result => ({ status: 'problem', message, fix })
