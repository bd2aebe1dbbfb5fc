import { Button, Group } from '@mantine/core'
import { useContext } from 'react'
import { DialogContext } from './unsaved.ts'

interface FormActionsProps {
  submit: string
  busy: boolean
  /** the member's role does not allow it */
  disabled?: boolean
  danger?: boolean
  onCancel: () => void
}

export function FormActions({ submit, busy, disabled = false, danger, onCancel }: FormActionsProps) {
  const dialog = useContext(DialogContext)
  return (
    <Group justify="flex-end" gap="xs" mt="xs" {...(dialog && { className: 'dialog-actions' })}>
      <Button variant="default" onClick={dialog?.close ?? onCancel}>
        Cancel
      </Button>
      <Button type="submit" loading={busy} disabled={disabled} {...(danger && { color: 'red.9' })}>
        {submit}
      </Button>
    </Group>
  )
}
