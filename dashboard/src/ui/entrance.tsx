import { Box, Group, Paper, Stack, Text, Title } from '@mantine/core'
import { useDocumentTitle } from '@mantine/hooks'
import type { ReactNode } from 'react'
import { Mark } from './mark.tsx'

/** The pages in front of the sign-in. */
export function Entrance({
  title,
  about,
  children,
}: {
  title: string
  about: ReactNode
  children?: ReactNode
}) {
  useDocumentTitle(`${title} · Tollgate`)
  return (
    <Box component="main" mih="100dvh" px="md" pt="14vh" pb="xl" bg="var(--tg-surface)">
      <Stack maw={380} mx="auto" gap="lg">
        <Group gap="xs" justify="center">
          <Mark size={34} />
          <Text fw={700} fz={22} lts="-0.015em">
            Tollgate
          </Text>
        </Group>
        <Paper p="xl" radius="lg" shadow="xs">
          <Title order={1}>{title}</Title>
          <Text c="dimmed" mt="xxs" mb="lg">
            {about}
          </Text>
          {children}
        </Paper>
      </Stack>
    </Box>
  )
}
