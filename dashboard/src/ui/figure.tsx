import { Text } from '@mantine/core'
import { number } from './number.ts'

/** A number in large type and what it counts. */
export function Figure({ label, value }: { label: string; value: number }) {
  return (
    <Text size="sm" c="dimmed">
      <Text span fz={24} fw={650} c="var(--mantine-color-text)" className="numbers">
        {number(value)}
      </Text>{' '}
      {label}
    </Text>
  )
}
