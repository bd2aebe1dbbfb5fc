import { Text } from '@mantine/core'
import { DataTable } from './data-table.tsx'
import { differences } from './differences.ts'
import { dateTimeOf } from './when.tsx'

type Values = Record<string, unknown> | null

/** Two versions side by side, field by field; what is the same is left out. */
export function ObjectDiff({
  before,
  after,
  label = 'Before and after',
  nameOf = (id) => id,
}: {
  before: Values
  after: Values
  label?: string
  /** what people call the thing with this id */
  nameOf?: (id: string) => string
}) {
  const rows = differences(before, after, { nameOf, timeOf: dateTimeOf })
  if (rows.length === 0) return <Text c="dimmed">No recorded fields changed.</Text>
  const both = before !== null && after !== null
  const cell = (text: string) => (
    <Text size="sm" style={{ whiteSpace: 'pre-wrap', overflowWrap: 'anywhere' }}>
      {text}
    </Text>
  )
  return (
    <DataTable
      comparison
      label={label}
      rows={rows}
      keyOf={({ field }) => field}
      columns={[
        { label: 'Field', cell: ({ field }) => field },
        ...(both || after === null ? [{ label: 'Before', cell: (row: Row) => cell(row.before) }] : []),
        ...(both || before === null ? [{ label: 'After', cell: (row: Row) => cell(row.after) }] : []),
      ]}
    />
  )
}

type Row = ReturnType<typeof differences>[number]
