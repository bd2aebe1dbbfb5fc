import { Paper, Table, VisuallyHidden } from '@mantine/core'
import type { ReactNode } from 'react'

interface Column<Row> {
  label: string
  cell: (row: Row) => ReactNode
  /** for numbers and buttons */
  right?: boolean
  /** hidden on a phone */
  wide?: boolean
  /** read out, but not shown */
  hiddenLabel?: boolean
}

interface DataTableProps<Row> {
  label: string
  rows: readonly Row[]
  keyOf: (row: Row) => string
  columns: Column<Row>[]
}

export function DataTable<Row>({ label, rows, keyOf, columns }: DataTableProps<Row>) {
  return (
    <Paper radius="md" style={{ overflow: 'hidden' }}>
      {/* A wide table scrolls on its own; it must be focusable for the keyboard to do so. */}
      <Table.ScrollContainer
        minWidth={0}
        type="native"
        tabIndex={0}
        role="region"
        aria-label={label}
        style={{ position: 'relative' }}
      >
        <Table highlightOnHover fz="sm" aria-label={label}>
          <Table.Thead>
            <Table.Tr>
              {columns.map((column) => (
                <Table.Th
                  key={column.label}
                  ta={column.right ? 'right' : 'left'}
                  c="dimmed"
                  fw={600}
                  fz="xs"
                  style={{ whiteSpace: 'nowrap' }}
                  {...(column.wide && { visibleFrom: 'sm' })}
                >
                  {column.hiddenLabel ? <VisuallyHidden>{column.label}</VisuallyHidden> : column.label}
                </Table.Th>
              ))}
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {rows.map((row) => (
              <Table.Tr key={keyOf(row)}>
                {columns.map((column) => (
                  <Table.Td
                    key={column.label}
                    ta={column.right ? 'right' : 'left'}
                    className={column.right ? 'numbers' : 'break'}
                    {...(column.wide && { visibleFrom: 'sm' })}
                  >
                    {column.cell(row)}
                  </Table.Td>
                ))}
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </Table.ScrollContainer>
    </Paper>
  )
}
