import { Button } from '@mantine/core'
import { IconDownload } from '@tabler/icons-react'
import { csvOf, download } from './csv.ts'

interface ExportRowsProps<Row> {
  /** of the file, without its ending */
  name: string
  /** all that the filters show, in their order */
  rows: readonly Row[]
  columns: readonly (readonly [name: string, value: (row: Row) => string | number | null | undefined])[]
}

/** Saves a list that is here as a whole as a CSV file. */
export function ExportRows<Row>({ name, rows, columns }: ExportRowsProps<Row>) {
  const save = () =>
    download(
      `${name}.csv`,
      'text/csv;charset=utf-8',
      // The mark at the beginning tells spreadsheets that this is UTF-8.
      `\ufeff${csvOf([columns.map(([name]) => name), ...rows.map((row) => columns.map(([, of]) => of(row) ?? ''))])}`,
    )
  return (
    <Button
      variant="default"
      leftSection={<IconDownload size={16} aria-hidden />}
      onClick={save}
      disabled={rows.length === 0}
    >
      Export CSV
    </Button>
  )
}

/** The same for a list of many pages, which the server sends as a file. */
export function ExportLink({
  list,
  query,
  size = 'sm',
}: {
  list:
    | 'users'
    | 'subscriptions'
    | 'ledger'
    | 'payments'
    | 'revenue'
    | 'mrr'
    | 'webhook-events'
    | 'deliveries'
  query: Record<string, string | number | boolean | null | undefined>
  size?: 'xs' | 'sm'
}) {
  const set = Object.entries(query).filter(([, value]) => value !== null && value !== undefined)
  const search = new URLSearchParams(set.map(([name, value]) => [name, String(value)]))
  return (
    <Button
      component="a"
      variant="default"
      size={size}
      href={`/dashboard/export/${list}?${search}`}
      download
      leftSection={<IconDownload size={16} aria-hidden />}
    >
      Export CSV
    </Button>
  )
}
