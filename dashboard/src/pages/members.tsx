import { Button, Group, Modal, Select, Stack, Text, Title } from '@mantine/core'
import { IconPlus } from '@tabler/icons-react'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { useState } from 'react'
import { graphql } from '../api/graphql.ts'
import type { Role } from '../api/session.ts'
import { useMay, useMe } from '../api/use-account.ts'
import { useAsk, useChange } from '../api/use-api.ts'
import { FormDialog } from '../forms/form-dialog.tsx'
import { InviteForm } from '../forms/invite-form.tsx'
import { ResetLink } from '../forms/reset-link.tsx'
import { ROLES } from '../roles.ts'
import { DataTable } from '../ui/data-table.tsx'
import { FormAlert } from '../ui/form-alert.tsx'
import { Loaded } from '../ui/loaded.tsx'
import { Page } from '../ui/page.tsx'
import { Tag } from '../ui/tag.tsx'
import { When } from '../ui/when.tsx'

const MEMBERS = graphql(`
  query Members {
    members { id email role createdAt lastSeenAt }
  }
`)
/** Only for owners. */
const INVITATIONS = graphql(`
  query Invitations {
    invitations { id email role expiresAt invitedBy }
  }
`)
const CHANGE_ROLE = graphql(`
  mutation ChangeRole($memberId: String!, $role: Role!) {
    changeRole(memberId: $memberId, role: $role) { id role }
  }
`)
const REMOVE = graphql(`
  mutation RemoveMember($memberId: String!) {
    removeMember(memberId: $memberId)
  }
`)
const REVOKE = graphql(`
  mutation RevokeInvitation($id: String!) {
    revokeInvitation(id: $id)
  }
`)

export function MembersPage() {
  const me = useMe()
  const may = useMay()
  const { make } = useSearch({ from: '/inside/members' })
  const navigate = useNavigate({ from: '/members' })
  const [removing, setRemoving] = useState<{ id: string; email: string } | null>(null)
  const [resetting, setResetting] = useState<{ id: string; email: string } | null>(null)
  const asked = useAsk(MEMBERS, {})
  const invitations = useAsk(INVITATIONS, {}, { enabled: may('revokeInvitation') }).data?.invitations ?? []
  const changeRole = useChange(CHANGE_ROLE, { said: 'The role is changed.' })
  const remove = useChange(REMOVE, {
    said: 'Removed, and signed out everywhere.',
    done: () => setRemoving(null),
  })
  const revoke = useChange(REVOKE, { said: 'The invitation is void.' })
  return (
    <Page
      title="Members"
      about="Who may sign in here, and what they may do."
      actions={
        <Button
          leftSection={<IconPlus size={16} aria-hidden />}
          onClick={() => void navigate({ search: { make: '1' } })}
          disabled={!may('inviteMember')}
        >
          Invite
        </Button>
      }
    >
      <FormAlert error={changeRole.error ?? revoke.error} />
      <Loaded of={asked}>
        {({ members }) => (
          <Stack gap="xl">
            <DataTable
              label="Members"
              rows={members}
              keyOf={({ id }) => id}
              columns={[
                {
                  label: 'Member',
                  cell: ({ id, email }) => (
                    <Group gap="xs">
                      {email} {id === me?.id && <Tag tone="accent">you</Tag>}
                    </Group>
                  ),
                },
                {
                  label: 'Role',
                  cell: ({ id, email, role }) =>
                    may('changeRole') ? (
                      <Select
                        aria-label={`Role of ${email}`}
                        size="xs"
                        w={120}
                        allowDeselect={false}
                        data={ROLES.map(({ value, label }) => ({ value, label }))}
                        value={role}
                        onChange={(role) =>
                          role !== null && changeRole.mutate({ memberId: id, role: role as Role })
                        }
                      />
                    ) : (
                      role.toLowerCase()
                    ),
                },
                {
                  label: 'Last seen',
                  wide: true,
                  cell: ({ lastSeenAt }) =>
                    lastSeenAt === null ? 'signed out' : <When at={lastSeenAt} time />,
                },
                { label: 'Since', wide: true, cell: ({ createdAt }) => <When at={createdAt} /> },
                {
                  label: 'Actions',
                  hiddenLabel: true,
                  right: true,
                  cell: (member) => (
                    <Group gap="xs" justify="flex-end" wrap="nowrap">
                      {may('createPasswordReset') && (
                        <Button
                          size="compact-sm"
                          variant="default"
                          aria-label={`Reset password of ${member.email}`}
                          onClick={() => setResetting(member)}
                        >
                          Reset password
                        </Button>
                      )}
                      {may('removeMember') && (
                        <Button
                          size="compact-sm"
                          variant="default"
                          aria-label={`Remove ${member.email}`}
                          onClick={() => setRemoving(member)}
                        >
                          Remove
                        </Button>
                      )}
                    </Group>
                  ),
                },
              ]}
            />
            {invitations.length > 0 && (
              <Stack gap="xs">
                <Title order={2}>Open invitations</Title>
                <DataTable
                  label="Open invitations"
                  rows={invitations}
                  keyOf={({ id }) => id}
                  columns={[
                    { label: 'Email', cell: ({ email }) => email },
                    { label: 'Role', cell: ({ role }) => role.toLowerCase() },
                    { label: 'Invited by', wide: true, cell: ({ invitedBy }) => invitedBy },
                    {
                      label: 'Works until',
                      wide: true,
                      cell: ({ expiresAt }) => <When at={expiresAt} time />,
                    },
                    {
                      label: 'Actions',
                      hiddenLabel: true,
                      right: true,
                      cell: ({ id, email }) =>
                        may('revokeInvitation') && (
                          <Button
                            size="compact-sm"
                            variant="default"
                            aria-label={`Take back the invitation of ${email}`}
                            onClick={() => revoke.mutate({ id })}
                          >
                            Take back
                          </Button>
                        ),
                    },
                  ]}
                />
              </Stack>
            )}
          </Stack>
        )}
      </Loaded>
      <FormDialog
        opened={make !== undefined}
        onClose={() => void navigate({ search: {} })}
        title="Invite somebody"
      >
        <InviteForm onDone={() => void navigate({ search: {} })} />
      </FormDialog>
      <Modal opened={resetting !== null} onClose={() => setResetting(null)} title="Reset the password">
        {resetting && <ResetLink member={resetting} onDone={() => setResetting(null)} />}
      </Modal>
      <Modal opened={removing !== null} onClose={() => setRemoving(null)} title="Remove the member">
        <Stack>
          <FormAlert error={remove.error} />
          <Text size="sm">{removing?.email} can no longer sign in, and is signed out everywhere.</Text>
          <Group justify="flex-end" gap="xs">
            <Button variant="default" onClick={() => setRemoving(null)} data-autofocus>
              Keep
            </Button>
            <Button
              color="red.9"
              loading={remove.isPending}
              onClick={() => removing && remove.mutate({ memberId: removing.id })}
            >
              Remove
            </Button>
          </Group>
        </Stack>
      </Modal>
    </Page>
  )
}
