import { Select, UnstyledButton } from '@mantine/core'
import { IconArrowDown, IconArrowsSort, IconArrowUp } from '@tabler/icons-react'
import type { Sorting } from './sorting.ts'

export interface SortableColumn {
  label: string
  /** its name in the address */
  sort?: string
  /** The first click shows the largest or latest first. */
  sortsDown?: boolean
}

/** The value of `aria-sort` of a column's header. */
export function ariaSort({ sort }: SortableColumn, sorting: Sorting | undefined) {
  if (sort === undefined || !sorting) return undefined
  if (sorting.now === sort) return 'ascending'
  return sorting.now === `-${sort}` ? 'descending' : 'none'
}

interface SortHeaderProps {
  column: SortableColumn
  sorting: Sorting
}

/** The header of a column, which sorts by it; again, the other way round. */
export function SortHeader({ column: { label, sort, sortsDown = false }, sorting }: SortHeaderProps) {
  const up = sorting.now === sort
  const down = sorting.now === `-${sort}`
  const next = up || (!down && sortsDown) ? `-${sort}` : `${sort}`
  const Icon = up ? IconArrowUp : down ? IconArrowDown : IconArrowsSort
  return (
    <UnstyledButton className="sort-header" onClick={() => sorting.set(next)}>
      {label}
      <Icon size={12} aria-hidden data-idle={up || down ? undefined : true} />
    </UnstyledButton>
  )
}

/** The same for a phone, where rows are cards without a header. */
export function SortSelect({ columns, sorting }: { columns: readonly SortableColumn[]; sorting: Sorting }) {
  const data = columns.flatMap(({ label, sort }) =>
    sort === undefined
      ? []
      : [
          { value: sort, label: `${label}, ascending` },
          { value: `-${sort}`, label: `${label}, descending` },
        ],
  )
  return (
    <Select
      hiddenFrom="sm"
      mb="xs"
      aria-label="Sort by"
      placeholder="Sort by"
      allowDeselect={false}
      data={data}
      value={sorting.now ?? null}
      onChange={(order) => order !== null && sorting.set(order)}
    />
  )
}
