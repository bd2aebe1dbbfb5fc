import { Button, Group, Text } from '@mantine/core'
import { notifications } from '@mantine/notifications'

/** Says that something was done; with `undo`, for long enough to take it back. */
export function notify(message: string, undo?: () => void): void {
  if (!undo) {
    notifications.show({ message, autoClose: 4_000 })
    return
  }
  const id = notifications.show({
    autoClose: 12_000,
    message: (
      <Group justify="space-between" wrap="nowrap" gap="sm">
        <Text size="sm">{message}</Text>
        <Button
          size="compact-sm"
          variant="default"
          onClick={() => {
            notifications.hide(id)
            undo()
          }}
        >
          Undo
        </Button>
      </Group>
    ),
  })
}

/** Says that a change has failed whose page is no longer open; stays until it is closed. */
export function notifyFailed(message: string): void {
  notifications.show({ title: 'A change you made has failed', message, color: 'red', autoClose: false })
}
