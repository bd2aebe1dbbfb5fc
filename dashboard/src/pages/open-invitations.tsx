import { Button, Stack, Title } from '@mantine/core'
import { useState } from 'react'
import { graphql } from '../api/graphql.ts'
import type { Role } from '../api/session.ts'
import { useMay } from '../api/use-account.ts'
import { useChange } from '../api/use-api.ts'
import { roleName } from '../roles.ts'
import { Confirm } from '../ui/confirm.tsx'
import { DataTable } from '../ui/data-table.tsx'
import { When } from '../ui/when.tsx'

const REVOKE = graphql(`
  mutation RevokeInvitation($id: String!) {
    revokeInvitation(id: $id)
  }
`)

interface Invitation {
  id: string
  email: string
  role: Role
  expiresAt: string
  invitedBy: string
}

export function OpenInvitations({ invitations }: { invitations: readonly Invitation[] }) {
  const may = useMay()
  const [revoking, setRevoking] = useState<{ id: string; email: string } | null>(null)
  const revoke = useChange(REVOKE, {
    said: `Invitation of ${revoking?.email ?? 'the member'} revoked.`,
    done: () => setRevoking(null),
  })
  return (
    <Stack gap="xs">
      <Title order={2}>Open invitations</Title>
      <DataTable
        label="Open invitations"
        rows={invitations}
        keyOf={({ id }) => id}
        columns={[
          { label: 'Email', cell: ({ email }) => email },
          { label: 'Role', cell: ({ role }) => roleName(role) },
          { label: 'Invited by', wide: true, cell: ({ invitedBy }) => invitedBy },
          {
            label: 'Expires',
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
                  aria-label={`Revoke the invitation of ${email}`}
                  onClick={() => setRevoking({ id, email })}
                >
                  Revoke
                </Button>
              ),
          },
        ]}
      />
      <Confirm
        opened={revoking !== null}
        title="Revoke the invitation?"
        submit="Revoke"
        busy={revoke.isPending}
        error={revoke.error}
        onConfirm={() => revoking && revoke.mutate({ id: revoking.id })}
        onClose={() => setRevoking(null)}
      >
        The link you sent to {revoking?.email} stops working. You can invite them again, with a new link.
      </Confirm>
    </Stack>
  )
}
