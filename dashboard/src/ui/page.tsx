import { Box, Group, Stack, Text, Title } from '@mantine/core'
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
      <Group justify="space-between" align="flex-start" gap="sm">
        <Box maw={720}>
          <Title order={1} className="break">
            {heading ?? title}
          </Title>
          {about && (
            <Text c="dimmed" mt="xxs">
              {about}
            </Text>
          )}
        </Box>
        {actions && <Group gap="xs">{actions}</Group>}
      </Group>
      {children}
    </Stack>
  )
}
