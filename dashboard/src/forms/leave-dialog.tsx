import { Button, Group, Text } from '@mantine/core'
import type { KeyboardEvent } from 'react'
import { Dialog } from '../ui/dialog.tsx'

interface LeaveDialogProps {
  opened: boolean
  onStay: () => void
  onLeave: () => void
  /** undefined: it cannot be saved from here */
  onSave?: (() => void) | undefined
}

// Mantine's own handling of Escape would close the dialog below it as well, or this one by the key that opened it.
const ALONE = { 'data-mantine-stop-propagation': 'true' }

/** Asks before changes are lost. */
export function LeaveDialog({ opened, onStay, onLeave, onSave }: LeaveDialogProps) {
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === 'Escape') onStay()
  }
  return (
    <Dialog
      opened={opened}
      onClose={onStay}
      title="Leave without saving?"
      withCloseButton={false}
      zIndex={300}
      closeOnEscape={false}
      onKeyDown={onKeyDown}
      attributes={{ header: { role: 'none' }, content: ALONE }}
    >
      <Text size="sm" mb="md">
        Your changes have not been saved.
      </Text>
      <Group justify="flex-end" gap="xs">
        <Button variant="default" onClick={onStay} data-autofocus {...ALONE}>
          Keep editing
        </Button>
        <Button color="red.9" onClick={onLeave} {...(onSave && { variant: 'outline' })} {...ALONE}>
          Discard changes
        </Button>
        {onSave && (
          <Button onClick={onSave} {...ALONE}>
            Save and continue
          </Button>
        )}
      </Group>
    </Dialog>
  )
}
