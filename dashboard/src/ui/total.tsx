import { Text } from '@mantine/core'
import { number } from './number.ts'

interface TotalProps {
  of: { count: number; more: boolean } | null | undefined
  /** "user", "users" */
  one: string
  many: string
  /** The rows of this page, and how many come before them; undefined: not known. */
  page?: { before: number | undefined; rows: number; isLast?: boolean }
}

/** "1 user", "1–50 of 10,003 users", "101–150 of 100,000+ users"; nothing where it is not counted. */
export function Total({ of: counted, one, many, page }: TotalProps) {
  // The last page of a list that is not counted says how long it is.
  const before = page?.isLast ? page.before : undefined
  const of = counted ?? (page && before !== undefined ? { count: before + page.rows, more: false } : null)
  if (!of && !page) return null
  return (
    <Text size="sm" c="dimmed" role="status">
      {[rangeText(of, page), of && `${number(of.count)}${of.more ? '+' : ''}`].filter(Boolean).join(' of ')}{' '}
      {of?.count === 1 && !of.more ? one : many}
    </Text>
  )
}

/** Nothing for a list of one page. */
function rangeText(of: TotalProps['of'], page: TotalProps['page']): string | null {
  if (page?.before === undefined || page.rows === 0) return null
  const isWhole = of && !of.more && page.before === 0 && page.rows >= of.count
  return isWhole ? null : `${number(page.before + 1)}–${number(page.before + page.rows)}`
}
