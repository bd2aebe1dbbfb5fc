import { Paper, Table, VisuallyHidden } from '@mantine/core'
import type { ReactNode } from 'react'
import { useRows } from './table-rows.ts'

interface Column<Row> {
  label: string
  cell: (row: Row) => ReactNode
  /** for numbers and buttons */
  right?: boolean
  /** hidden on a phone */
  wide?: boolean
  /** stays in sight while the table is scrolled sideways */
  sticky?: boolean
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
  const { body, row: onRow } = useRows(rows.length)
  return (
    <Paper radius="md" style={{ overflow: 'hidden' }}>
      {/* A wide table scrolls on its own, with the arrow keys while one of its rows has the focus. */}
      <Table.ScrollContainer
        minWidth={0}
        type="native"
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
                  {...(column.sticky && { className: 'sticky-cell' })}
                  {...(column.wide && { visibleFrom: 'sm' })}
                >
                  {column.hiddenLabel ? <VisuallyHidden>{column.label}</VisuallyHidden> : column.label}
                </Table.Th>
              ))}
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody {...body}>
            {rows.map((row, index) => (
              <Table.Tr key={keyOf(row)} {...onRow(index)}>
                {columns.map((column) => (
                  <Table.Td
                    key={column.label}
                    ta={column.right ? 'right' : 'left'}
                    className={`${column.right ? 'numbers' : 'break'}${column.sticky ? ' sticky-cell' : ''}`}
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
