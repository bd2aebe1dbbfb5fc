import { SegmentedControl } from '@mantine/core'

interface ArchivedFilterProps {
  archived: boolean
  onChange: (archived: boolean) => void
}

/** What is in use, or what is archived. */
export function ArchivedFilter({ archived, onChange }: ArchivedFilterProps) {
  return (
    <SegmentedControl
      w="fit-content"
      aria-label="Show"
      value={archived ? 'archived' : 'current'}
      onChange={(value) => onChange(value === 'archived')}
      data={[
        { value: 'current', label: 'In use' },
        { value: 'archived', label: 'Archived' },
      ]}
    />
  )
}
