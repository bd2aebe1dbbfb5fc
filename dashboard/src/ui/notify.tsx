import { Button, Group, Text } from '@mantine/core'
import { notifications } from '@mantine/notifications'

/** A button beside a message. */
export interface NotifyAction {
  label: string
  onClick: () => void
}

/** Says that something was done; with actions, for long enough to use them. */
export function notify(message: string, actions: readonly NotifyAction[] = []): void {
  if (actions.length === 0) {
    notifications.show({ message, autoClose: 4_000 })
    return
  }
  const id = notifications.show({
    autoClose: 12_000,
    message: (
      <Group justify="space-between" wrap="nowrap" gap="sm">
        <Text size="sm">{message}</Text>
        <Group gap="xs" wrap="nowrap">
          {actions.map(({ label, onClick }) => (
            <Button
              key={label}
              size="compact-sm"
              variant="default"
              onClick={() => {
                notifications.hide(id)
                onClick()
              }}
            >
              {label}
            </Button>
          ))}
        </Group>
      </Group>
    ),
  })
}

/** Says that a change has failed whose page is no longer open; stays until it is closed. */
export function notifyFailed(message: string): void {
  notifications.show({ title: 'A change you made has failed', message, color: 'red', autoClose: false })
}
