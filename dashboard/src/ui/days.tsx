import { Group, TextInput } from '@mantine/core'

interface DaysProps {
  /** such as 2027-01-31 */
  period: { from: string; to: string }
  onChange: (period: { from: string; to: string }) => void
}

/** Inputs for the first and the last day of a chart. */
export function Days({ period, onChange }: DaysProps) {
  return (
    <Group gap="xs" align="flex-end">
      <TextInput
        type="date"
        size="xs"
        label="From"
        value={period.from}
        max={period.to}
        onChange={({ target }) => target.value && onChange({ ...period, from: target.value })}
      />
      <TextInput
        type="date"
        size="xs"
        label="To"
        value={period.to}
        min={period.from}
        onChange={({ target }) => target.value && onChange({ ...period, to: target.value })}
      />
    </Group>
  )
}
