import type { ReactNode } from 'react'
import classes from './tag.module.css'

export type Tone = 'good' | 'warn' | 'bad' | 'accent' | 'plain'

/** A word about something's state. */
export function Tag({
  tone = 'plain',
  title,
  children,
}: {
  tone?: Tone
  title?: string
  children: ReactNode
}) {
  return (
    <span className={classes.tag} data-tone={tone} title={title}>
      {children}
    </span>
  )
}
