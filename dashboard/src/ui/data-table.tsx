import { Checkbox, Paper, Table, VisuallyHidden } from '@mantine/core'
import type { ReactNode } from 'react'
import classes from './data-table.module.css'
import type { Selection } from './selection.ts'
import { ariaSort, SortHeader, SortSelect } from './sort-header.tsx'
import type { Sorting } from './sorting.ts'
import { useRows } from './table-rows.ts'

interface Column<Row> {
  label: string
  cell: (row: Row) => ReactNode
  /** for numbers and buttons */
  right?: boolean
  /** hidden on a phone */
  wide?: boolean
  /** read out, but not shown: a column of buttons, which stays in sight while the table is scrolled sideways */
  hiddenLabel?: boolean
  /** its name as an order in the address: the header sorts by it */
  sort?: string
  /** The first click shows the largest or latest first. */
  sortsDown?: boolean
}

interface DataTableProps<Row> {
  label: string
  rows: readonly Row[]
  keyOf: (row: Row) => string
  columns: Column<Row>[]
  /** how the columns with `sort` sort the list; undefined: not this list */
  sorting?: Sorting | undefined
  /** Rows are chosen by a box in front of them. `name`: what the box of a row is called. */
  selection?: { of: Selection; name: (row: Row) => string } | undefined
  /** A comparison stays a table on a phone. All others show each row as a card there. */
  comparison?: boolean
}

export function DataTable<Row>({
  label,
  rows,
  keyOf,
  columns,
  sorting,
  selection,
  comparison = false,
}: DataTableProps<Row>) {
  const { body, row: onRow } = useRows(rows.length)
  const kindOf = (column: Column<Row>, index: number) => {
    if (column.hiddenLabel) return classes.actions
    return index === columns.findIndex(({ hiddenLabel }) => !hiddenLabel) ? classes.title : classes.detail
  }
  return (
    <div>
      {sorting && !comparison && <SortSelect columns={columns} sorting={sorting} />}
      <Paper radius="md" style={{ overflow: 'hidden' }} className={comparison ? '' : (classes.list ?? '')}>
        {/* A wide table scrolls on its own, with the arrow keys while one of its rows has the focus. */}
        <Table.ScrollContainer
          minWidth={0}
          type="native"
          role="region"
          aria-label={label}
          style={{ position: 'relative' }}
        >
          {/* The roles are those of the elements, which some browsers drop when the elements are laid out as cards. */}
          <Table highlightOnHover fz="sm" aria-label={label} role="table">
            <Table.Thead role="rowgroup">
              <Table.Tr role="row">
                {selection && (
                  <Table.Th role="columnheader" w={30} className={classes.box ?? ''}>
                    <Checkbox
                      size="xs"
                      aria-label={`Select all on this page`}
                      checked={rows.length > 0 && rows.every((row) => selection.of.ids.has(keyOf(row)))}
                      indeterminate={
                        rows.some((row) => selection.of.ids.has(keyOf(row))) &&
                        !rows.every((row) => selection.of.ids.has(keyOf(row)))
                      }
                      onChange={(event) => selection.of.toggle(rows.map(keyOf), event.currentTarget.checked)}
                    />
                  </Table.Th>
                )}
                {columns.map((column) => (
                  <Table.Th
                    key={column.label}
                    role="columnheader"
                    c="dimmed"
                    fw={600}
                    fz="xs"
                    aria-sort={ariaSort(column, sorting)}
                    data-right={column.right || undefined}
                    style={{ whiteSpace: 'nowrap' }}
                    className={namesOf(column.right && classes.right, column.hiddenLabel && 'sticky-cell')}
                    {...(column.wide && { visibleFrom: 'sm' })}
                  >
                    {column.hiddenLabel ? (
                      <VisuallyHidden>{column.label}</VisuallyHidden>
                    ) : sorting && column.sort !== undefined ? (
                      <SortHeader column={column} sorting={sorting} />
                    ) : (
                      column.label
                    )}
                  </Table.Th>
                ))}
              </Table.Tr>
            </Table.Thead>
            <Table.Tbody {...body} role="rowgroup">
              {rows.map((row, index) => (
                <Table.Tr key={keyOf(row)} role="row" {...onRow(index)}>
                  {selection && (
                    <Table.Td role="cell" className={classes.box ?? ''}>
                      <Checkbox
                        size="xs"
                        aria-label={`Select ${selection.name(row)}`}
                        checked={selection.of.ids.has(keyOf(row))}
                        onChange={(event) => selection.of.toggle([keyOf(row)], event.currentTarget.checked)}
                      />
                    </Table.Td>
                  )}
                  {columns.map((column, place) => (
                    <Table.Td
                      key={column.label}
                      role="cell"
                      data-label={column.label}
                      className={namesOf(
                        column.right ? 'numbers' : 'break',
                        column.right && classes.right,
                        column.hiddenLabel && 'sticky-cell',
                        !comparison && kindOf(column, place),
                      )}
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
    </div>
  )
}

const namesOf = (...names: (string | false | undefined)[]): string => names.filter(Boolean).join(' ')
