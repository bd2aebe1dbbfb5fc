import { fieldErrorOf, messageOf } from '../api/api-error.ts'
import { Note } from './note.tsx'

/** A form's error that belongs to none of its fields. */
export function FormAlert({ error, fields = [] }: { error: Error | null; fields?: readonly string[] }) {
  if (!error || fieldErrorOf(error, fields)) return null
  return (
    <Note tone="bad" role="alert">
      {messageOf(error)}
    </Note>
  )
}
