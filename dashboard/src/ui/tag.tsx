import type { ReactNode } from 'react'
import classes from './tag.module.css'

export type Tone = 'good' | 'warn' | 'bad' | 'accent' | 'plain'

/** A status label. */
export function Tag({
  tone = 'plain',
  title,
  wraps = false,
  children,
}: {
  tone?: Tone
  title?: string
  /** of several words: takes several lines where there is no room for one */
  wraps?: boolean
  children: ReactNode
}) {
  return (
    <span className={classes.tag} data-tone={tone} data-wraps={wraps || undefined} title={title}>
      {children}
    </span>
  )
}
