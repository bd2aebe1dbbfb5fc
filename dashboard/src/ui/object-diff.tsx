import { Text } from '@mantine/core'
import { DataTable } from './data-table.tsx'

type Values = Record<string, unknown> | null

/** Two objects side by side, name by name; what is the same is left out. */
export function ObjectDiff({
  before,
  after,
  label = 'Before and after',
}: {
  before: Values
  after: Values
  label?: string
}) {
  const names = [...new Set([...Object.keys(before ?? {}), ...Object.keys(after ?? {})])]
  const rows = names
    .map((name) => ({ name, before: textOf(before?.[name]), after: textOf(after?.[name]) }))
    .filter((row) => row.before !== row.after)
  if (rows.length === 0) return <Text c="dimmed">Nothing was written down about it.</Text>
  const cell = (text: string) => (
    <Text size="xs" ff="monospace" style={{ whiteSpace: 'pre-wrap' }}>
      {text}
    </Text>
  )
  return (
    <DataTable
      label={label}
      rows={rows}
      keyOf={({ name }) => name}
      columns={[
        { label: 'Field', cell: ({ name }) => name },
        { label: 'Before', cell: ({ before }) => cell(before) },
        { label: 'After', cell: ({ after }) => cell(after) },
      ]}
    />
  )
}

const textOf = (value: unknown): string =>
  value === undefined || value === null
    ? '–'
    : typeof value === 'string'
      ? value
      : JSON.stringify(value, null, 1)
