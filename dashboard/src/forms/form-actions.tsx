import { Button, Group } from '@mantine/core'

interface FormActionsProps {
  submit: string
  busy: boolean
  /** the member's role does not allow it */
  disabled?: boolean
  danger?: boolean
  onCancel: () => void
}

export function FormActions({ submit, busy, disabled = false, danger, onCancel }: FormActionsProps) {
  return (
    <Group justify="flex-end" gap="xs" mt="xs">
      <Button variant="default" onClick={onCancel}>
        Cancel
      </Button>
      <Button type="submit" loading={busy} disabled={disabled} {...(danger && { color: 'red.9' })}>
        {submit}
      </Button>
    </Group>
  )
}
