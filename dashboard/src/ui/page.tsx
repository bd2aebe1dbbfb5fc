import { ActionIcon, Group, Stack, Text, Title } from '@mantine/core'
import { useDocumentTitle } from '@mantine/hooks'
import { IconHelp } from '@tabler/icons-react'
import { useRouterState } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { HELP } from '../shell/help.ts'

interface PageProps {
  title: string
  /** in place of the title's text on the page */
  heading?: ReactNode
  about?: ReactNode
  actions?: ReactNode
  children: ReactNode
}

export function Page({ title, heading, about, actions, children }: PageProps) {
  const route = useRouterState({ select: ({ matches }) => matches.at(-1)?.fullPath })
  const help = HELP[route?.replace(/\/$/, '') ?? '']
  useDocumentTitle(`${title} · Tollgate`)
  return (
    <Stack gap="lg" maw={1180} mx="auto">
      <div>
        <Group justify="space-between" gap="sm">
          <Group gap="xs" wrap="nowrap">
            <Title order={1} className="break">
              {heading ?? title}
            </Title>
            {help !== undefined && (
              <ActionIcon
                component="a"
                // On a phone, the menu has the documentation, and the title and its actions take one line.
                visibleFrom="xs"
                href={`/docs/${help}`}
                target="_blank"
                rel="noreferrer"
                variant="subtle"
                color="gray"
                aria-label="Documentation for this page"
                title="Documentation"
              >
                <IconHelp size={18} stroke={1.7} aria-hidden />
              </ActionIcon>
            )}
          </Group>
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
