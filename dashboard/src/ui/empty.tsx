import { Paper, Stack, Text, Title } from '@mantine/core'
import type { ReactNode } from 'react'

interface EmptyProps {
  title: string
  /** what this is for, in a sentence or two */
  children: ReactNode
  action?: ReactNode
  /** how the same is done in code */
  code?: ReactNode
}

/** Shown for an empty list: what it is for, and how to start. */
export function Empty({ title, children, action, code }: EmptyProps) {
  return (
    <Paper p="xl" radius="md">
      <Stack gap="md" maw={640}>
        <div>
          <Title order={2} mb="xxs">
            {title}
          </Title>
          <Text c="dimmed">{children}</Text>
        </div>
        {action && <div>{action}</div>}
        {code}
      </Stack>
    </Paper>
  )
}
