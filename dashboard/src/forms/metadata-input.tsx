import { Textarea } from '@mantine/core'

export const metadataText = (metadata: Record<string, unknown>): string =>
  Object.keys(metadata).length === 0 ? '' : JSON.stringify(metadata, null, 2)

/** Parses the entered object; empty input is an empty object. Throws if it is not an object. */
export function metadataOf(text: string): Record<string, unknown> {
  if (text.trim() === '') return {}
  const value: unknown = JSON.parse(text)
  if (value === null || typeof value !== 'object' || Array.isArray(value)) throw new Error('no object')
  return value as Record<string, unknown>
}

export function metadataProblem(text: string): string | null {
  try {
    metadataOf(text)
    return null
  } catch {
    return 'Metadata is a JSON object, such as {"colour": "blue"}.'
  }
}

export function MetadataInput(props: Record<string, unknown>) {
  return (
    <Textarea
      label="Metadata"
      description="Any JSON object. Stored and returned unchanged"
      autosize
      minRows={3}
      maxRows={14}
      spellCheck={false}
      styles={{ input: { fontFamily: 'var(--mantine-font-family-monospace)' } }}
      {...props}
    />
  )
}
