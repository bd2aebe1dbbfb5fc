import { Text } from '@mantine/core'
import { number } from './number.ts'

interface TotalProps {
  of: { count: number; more: boolean } | null | undefined
  /** "user", "users" */
  one: string
  many: string
}

/** "1 user", "10,000+ users"; nothing where it is not counted. */
export function Total({ of, one, many }: TotalProps) {
  if (!of) return null
  return (
    <Text size="sm" c="dimmed" role="status">
      {`${number(of.count)}${of.more ? '+' : ''} ${of.count === 1 && !of.more ? one : many}`}
    </Text>
  )
}
