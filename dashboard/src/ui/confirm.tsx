import { Button, Group, Stack, Text } from '@mantine/core'
import type { ReactNode } from 'react'
import { Dialog } from './dialog.tsx'
import { FormAlert } from './form-alert.tsx'

interface ConfirmProps {
  opened: boolean
  title: string
  /** what will happen, in numbers */
  children: ReactNode
  submit: string
  /** it can be undone, or takes nothing away */
  harmless?: boolean
  busy: boolean
  error?: Error | null
  onConfirm: () => void
  onClose: () => void
}

/** Asks before something that cannot easily be taken back. */
export function Confirm({
  opened,
  title,
  children,
  submit,
  harmless = false,
  busy,
  error,
  onConfirm,
  onClose,
}: ConfirmProps) {
  return (
    <Dialog opened={opened} onClose={onClose} title={title} ta="left">
      <Stack>
        <FormAlert error={error ?? null} />
        <Text size="sm" component="div">
          {children}
        </Text>
        <Group justify="flex-end" gap="xs">
          <Button variant="default" onClick={onClose} data-autofocus>
            Cancel
          </Button>
          <Button {...(!harmless && { color: 'red.9' })} loading={busy} onClick={onConfirm}>
            {submit}
          </Button>
        </Group>
      </Stack>
    </Dialog>
  )
}
