import type { ReactNode } from 'react'
import classes from './note.module.css'

interface NoteProps {
  tone: 'good' | 'warn' | 'bad' | 'accent'
  title?: string
  /** `alert` for a failure, `status` for a result */
  role?: 'alert' | 'status'
  children: ReactNode
}

/** Something the reader should know before continuing. */
export function Note({ tone, title, role, children }: NoteProps) {
  return (
    <div className={classes.note} data-tone={tone} role={role}>
      {title !== undefined && <div className={classes.title}>{title}</div>}
      {children}
    </div>
  )
}
