import type { ReactNode } from 'react'
import classes from './tag.module.css'

export type Tone = 'good' | 'warn' | 'bad' | 'accent' | 'plain'

/** A status label. */
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
