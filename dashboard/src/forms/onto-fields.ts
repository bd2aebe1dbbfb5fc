import type { UseFormReturnType } from '@mantine/form'
import { fieldErrorOf } from '../api/api-error.ts'

/** Shows the server's refusal beside the field it is about. */
// biome-ignore lint/suspicious/noExplicitAny: forms of all shapes
export function ontoFields(form: UseFormReturnType<any>) {
  return { onError: (error: Error) => form.setErrors(fieldErrorOf(error, fieldsOf(form)) ?? {}) }
}

// biome-ignore lint/suspicious/noExplicitAny: forms of all shapes
export const fieldsOf = (form: UseFormReturnType<any>): string[] => Object.keys(form.getValues())

export const required = (label: string) => (value: string | null) =>
  value === null || value.trim() === '' ? `${label} is missing.` : null

const MAX_ID = 255

/** A rough check of an id; the server does the rest. */
export function idProblem(value: string): string | null {
  if (value === '') return 'The id is missing.'
  return value.length > MAX_ID ? `An id has at most ${MAX_ID} characters.` : null
}

/** Proposes an id for a name: "Team seats" → "team-seats". */
export const idFrom = (name: string) =>
  name
    .toLowerCase()
    .normalize('NFKD')
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-+|-+$/g, '')
