import { Group, Stack, Text, Title } from '@mantine/core'
import { useDocumentTitle } from '@mantine/hooks'
import type { ReactNode } from 'react'

interface PageProps {
  title: string
  /** in place of the title's text on the page */
  heading?: ReactNode
  about?: ReactNode
  actions?: ReactNode
  children: ReactNode
}

export function Page({ title, heading, about, actions, children }: PageProps) {
  useDocumentTitle(`${title} · Tollgate`)
  return (
    <Stack gap="lg" maw={1180} mx="auto">
      <div>
        <Group justify="space-between" gap="sm">
          <Title order={1} className="break">
            {heading ?? title}
          </Title>
          {actions && (
            <Group gap="xs" className="scroll-row">
              {actions}
            </Group>
          )}
        </Group>
        {about && (
          <Text component="div" c="dimmed" mt="xs" maw={720}>
            {about}
          </Text>
        )}
      </div>
      {children}
    </Stack>
  )
}
