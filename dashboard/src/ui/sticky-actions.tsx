import { Group, Paper, Text } from '@mantine/core'
import type { ReactNode } from 'react'
import classes from './sticky-actions.module.css'

interface StickyActionsProps {
  /** beside the buttons, in a few words */
  about?: ReactNode
  children: ReactNode
}

/** The buttons of a long page: in sight wherever it is scrolled to, and reached by the keyboard where they stand in it. */
export function StickyActions({ about, children }: StickyActionsProps) {
  return (
    <Paper className={classes.bar ?? ''} p="xs" px="sm" radius="md" shadow="sm">
      <Group gap="xs" justify="space-between">
        <Text size="sm" c="dimmed" component="div" aria-live="polite" className={classes.about ?? ''}>
          {about}
        </Text>
        <Group gap="xs">{children}</Group>
      </Group>
    </Paper>
  )
}
