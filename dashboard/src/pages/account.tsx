import { Button, Group, Stack, Text, Title } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { graphql } from '../api/graphql.ts'
import { forgetSession } from '../api/session.ts'
import { useMe } from '../api/use-account.ts'
import { useAsk, useChange } from '../api/use-api.ts'
import { ChangePasswordForm } from '../forms/change-password-form.tsx'
import { browserOf } from '../ui/browser-name.ts'
import { DataTable } from '../ui/data-table.tsx'
import { FormAlert } from '../ui/form-alert.tsx'
import { Loaded } from '../ui/loaded.tsx'
import { Page } from '../ui/page.tsx'
import { SkeletonTable } from '../ui/skeletons.tsx'
import { Tag } from '../ui/tag.tsx'
import { When } from '../ui/when.tsx'

const SESSIONS = graphql(`
  query Sessions {
    sessions { id current createdAt lastSeenAt userAgent }
  }
`)
const END = graphql(`
  mutation SignOutSession($id: String!) {
    signOutSession(id: $id)
  }
`)
const END_ALL = graphql(`
  mutation SignOutEverywhere {
    signOutEverywhere
  }
`)

export function AccountPage() {
  const me = useMe()
  const client = useQueryClient()
  const navigate = useNavigate()
  const asked = useAsk(SESSIONS, {})
  const end = useChange(END, { said: 'Session ended.' })
  const endAll = useChange(END_ALL, {
    async after() {
      await navigate({ to: '/sign-in' })
      forgetSession(client)
    },
  })
  return (
    <Page title="Password and sessions" about={`${me?.email}, ${me?.role.toLowerCase()}`}>
      <Stack gap="xs">
        <Title order={2}>Password</Title>
        <ChangePasswordForm />
      </Stack>
      <Stack gap="xs">
        <Group justify="space-between">
          <div>
            <Title order={2}>Sessions</Title>
            <Text size="sm" c="dimmed">
              Where you are signed in.
            </Text>
          </div>
          <Button variant="default" loading={endAll.isPending} onClick={() => endAll.mutate({})}>
            Sign out everywhere
          </Button>
        </Group>
        <FormAlert error={end.error ?? endAll.error} />
        <Loaded of={asked} skeleton={<SkeletonTable columns={3} rows={2} />}>
          {({ sessions }) => (
            <DataTable
              label="Sessions"
              rows={sessions}
              keyOf={({ id }) => id}
              columns={[
                {
                  label: 'Browser',
                  cell: ({ userAgent, current }) => (
                    <Group gap="xs">
                      {browserOf(userAgent)} {current && <Tag tone="accent">This browser</Tag>}
                    </Group>
                  ),
                },
                { label: 'Last used', cell: ({ lastSeenAt }) => <When at={lastSeenAt} time /> },
                { label: 'Signed in', wide: true, cell: ({ createdAt }) => <When at={createdAt} time /> },
                {
                  label: 'Actions',
                  hiddenLabel: true,
                  right: true,
                  cell: ({ id, current }) =>
                    !current && (
                      <Button size="compact-sm" variant="default" onClick={() => end.mutate({ id })}>
                        Sign out
                      </Button>
                    ),
                },
              ]}
            />
          )}
        </Loaded>
      </Stack>
    </Page>
  )
}
