import { ActionIcon, Group, Select, TextInput } from '@mantine/core'
import type { GetInputPropsReturnType } from '@mantine/form'
import { IconTrash } from '@tabler/icons-react'
import type { GrantCap } from '../grants.ts'
import { UnitsInput } from '../ui/units-input.tsx'

export interface CapValues {
  limit: number | string
  period: GrantCap['period']
  /** empty: all usage of the subscriber */
  perEntity: string
}

export const NEW_CAP: CapValues = { limit: '', period: 'DAY', perEntity: '' }

export const capProblems = {
  limit: (limit: number | string) => (limit === '' ? 'Missing' : null),
  perEntity: (type: string) => (type.includes(':') ? 'Without a colon' : null),
}

/** Windows in which caps count. */
export const CAP_WINDOWS = [
  { value: 'HOUR', label: 'hour' },
  { value: 'DAY', label: 'day' },
  { value: 'WEEK', label: 'week' },
  { value: 'MONTH', label: 'month' },
  { value: 'YEAR', label: 'year' },
  { value: 'NEVER', label: 'never resets' },
] as const

interface CapFieldsProps {
  /** counted from 1 */
  number: number
  fieldProps: (field: keyof CapValues) => GetInputPropsReturnType
  readOnly: boolean
  onRemove: () => void
}

/** One cap of an entitlement. */
export function CapFields({ number, fieldProps, readOnly, onRemove }: CapFieldsProps) {
  return (
    <Group align="flex-end" gap="md" mt="sm" role="group" aria-label={`Cap ${number}`}>
      <UnitsInput label="Cap" w={130} readOnly={readOnly} {...fieldProps('limit')} />
      <Select
        label="Per"
        w={140}
        data={CAP_WINDOWS}
        allowDeselect={false}
        readOnly={readOnly}
        {...fieldProps('period')}
      />
      <TextInput
        label="For each"
        placeholder="subscriber"
        w={140}
        readOnly={readOnly}
        {...fieldProps('perEntity')}
      />
      <ActionIcon
        variant="subtle"
        color="gray"
        mb="xxs"
        disabled={readOnly}
        aria-label={`Remove cap ${number}`}
        onClick={onRemove}
      >
        <IconTrash size={17} />
      </ActionIcon>
    </Group>
  )
}
