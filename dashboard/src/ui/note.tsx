import type { ReactNode } from 'react'
import classes from './note.module.css'

interface NoteProps {
  tone: 'good' | 'warn' | 'bad' | 'accent'
  title?: string
  /** `alert` for what went wrong just now, `status` for what came of something */
  role?: 'alert' | 'status'
  children: ReactNode
}

/** Something that the reader should know before going on. */
export function Note({ tone, title, role, children }: NoteProps) {
  return (
    <div className={classes.note} data-tone={tone} role={role}>
      {title !== undefined && <div className={classes.title}>{title}</div>}
      {children}
    </div>
  )
}
