import { Button, Group, List, Select, Stack } from '@mantine/core'
import { IconPlus } from '@tabler/icons-react'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { useState } from 'react'
import { graphql, type ResultOf } from '../api/graphql.ts'
import type { Role } from '../api/session.ts'
import { useMay, useMe } from '../api/use-account.ts'
import { useAsk, useChange } from '../api/use-api.ts'
import { FormDialog } from '../forms/form-dialog.tsx'
import { InviteForm } from '../forms/invite-form.tsx'
import { ResetLink } from '../forms/reset-link.tsx'
import { ROLES, roleName } from '../roles.ts'
import { Confirm } from '../ui/confirm.tsx'
import { DataTable } from '../ui/data-table.tsx'
import { Dialog } from '../ui/dialog.tsx'
import { ExportRows } from '../ui/export-rows.tsx'
import { FormAlert } from '../ui/form-alert.tsx'
import { ListTools } from '../ui/list-tools.tsx'
import { Loaded } from '../ui/loaded.tsx'
import { MoreMenu } from '../ui/more-menu.tsx'
import { units } from '../ui/number.ts'
import { Page } from '../ui/page.tsx'
import { Pager } from '../ui/pager.tsx'
import { SearchInput } from '../ui/search-input.tsx'
import { SkeletonTable } from '../ui/skeletons.tsx'
import { matches, slice } from '../ui/slice.ts'
import { sorted } from '../ui/sorting.ts'
import { Tag } from '../ui/tag.tsx'
import { Total } from '../ui/total.tsx'
import { When } from '../ui/when.tsx'
import { OpenInvitations } from './open-invitations.tsx'

const MEMBERS = graphql(`
  query Members {
    members { id email role createdAt lastSeenAt sessions }
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

type Member = ResultOf<typeof MEMBERS>['members'][number]
type Filters = { search?: string; role?: Role; order?: Order }

type Column = 'email' | 'role' | 'seen' | 'since'
type Order = Column | `-${Column}`

const SOLE_OWNER = 'The only owner. Make another member an owner first.'

/** The server sends them oldest first. */
function listed(members: readonly Member[], { search, role, order }: Filters): readonly Member[] {
  const shown = members.filter(
    (member) => (role === undefined || member.role === role) && matches(search, member.email),
  )
  return sorted(shown, order, {
    email: ({ email }) => email,
    role: ({ role }) => ROLES.findIndex(({ value }) => value === role),
    seen: ({ lastSeenAt }) => lastSeenAt,
    since: ({ createdAt }) => createdAt,
  })
}

export function MembersPage() {
  const me = useMe()
  const may = useMay()
  const { make, after, ...filters } = useSearch({ from: '/inside/members' })
  const navigate = useNavigate({ from: '/members' })
  const close = () => void navigate({ search: ({ make, ...rest }) => rest })
  // Another filter is another list: it starts at its first page.
  const set = (change: { [Name in keyof Filters]: Filters[Name] | undefined }) =>
    void navigate({ search: ({ after, ...rest }) => ({ ...rest, ...change }) as Filters, replace: true })
  const [removing, setRemoving] = useState<{ id: string; email: string; sessions: number | null } | null>(
    null,
  )
  const [demoting, setDemoting] = useState<{ id: string; email: string; role: Role } | null>(null)
  const [resetting, setResetting] = useState<{ id: string; email: string } | null>(null)
  const asked = useAsk(MEMBERS, {})
  const invitations = useAsk(INVITATIONS, {}, { enabled: may('revokeInvitation') }).data?.invitations ?? []
  const changeRole = useChange(CHANGE_ROLE, {
    said: (_, { memberId, role }) =>
      `${asked.data?.members.find(({ id }) => id === memberId)?.email ?? 'The member'} is now ${roleName(role).toLowerCase()}.`,
    done: () => setDemoting(null),
  })
  const remove = useChange(REMOVE, {
    said: `${removing?.email ?? 'The member'} removed and signed out everywhere.`,
    done: () => setRemoving(null),
  })
  const invitedBy = (email: string) => invitations.filter((sent) => sent.invitedBy === email).length
  /** Somebody has to be able to manage the others. */
  const isSoleOwner = ({ role }: Pick<Member, 'role'>) =>
    role === 'OWNER' && asked.data?.members.filter((member) => member.role === 'OWNER').length === 1
  const voided = (email: string) =>
    `${units(invitedBy(email), 'open invitation they sent stops working', 'open invitations they sent stop working')}.`
  return (
    <Page
      title="Members"
      about="People who can sign in, and their roles."
      actions={
        <Button
          leftSection={<IconPlus size={16} aria-hidden />}
          onClick={() => void navigate({ search: (s) => ({ ...s, make: '1' }) })}
          disabled={!may('inviteMember')}
        >
          Invite
        </Button>
      }
    >
      <FormAlert error={demoting ? null : changeRole.error} />
      <Loaded of={asked} skeleton={<SkeletonTable lines={1} rows={3} tools total />}>
        {({ members }) => {
          const shown = listed(members, filters)
          const page = slice(shown, after)
          return (
            <Stack gap="xl">
              <Stack gap="sm">
                <ListTools>
                  <SearchInput
                    label="Search by email"
                    value={filters.search ?? ''}
                    onSearch={(text) => set({ search: text === '' ? undefined : text })}
                  />
                  <Select
                    aria-label="Role"
                    placeholder="Any role"
                    w={150}
                    clearable
                    data={ROLES.map(({ value, label }) => ({ value, label }))}
                    value={filters.role ?? null}
                    onChange={(role) => set({ role: (role ?? undefined) as Filters['role'] })}
                  />
                  <ExportRows
                    name="members"
                    rows={shown}
                    columns={[
                      ['email', ({ email }) => email],
                      ['role', ({ role }) => role],
                      ['createdAt', ({ createdAt }) => createdAt],
                      ['lastSeenAt', ({ lastSeenAt }) => lastSeenAt],
                    ]}
                  />
                </ListTools>
                <Total
                  of={{ count: shown.length, more: false }}
                  one="member"
                  many="members"
                  page={{ before: page.before, rows: page.rows.length }}
                />
                <DataTable
                  label="Members"
                  rows={page.rows}
                  sorting={{ now: filters.order, set: (order) => set({ order: order as Order }) }}
                  keyOf={({ id }) => id}
                  columns={[
                    {
                      label: 'Member',
                      sort: 'email',
                      cell: ({ id, email }) => (
                        <Group gap="xs">
                          {email} {id === me?.id && <Tag tone="accent">You</Tag>}
                        </Group>
                      ),
                    },
                    {
                      label: 'Role',
                      sort: 'role',
                      cell: ({ id, email, role }) =>
                        may('changeRole') ? (
                          <Select
                            aria-label={`Role of ${email}`}
                            disabled={isSoleOwner({ role })}
                            title={isSoleOwner({ role }) ? SOLE_OWNER : undefined}
                            size="xs"
                            w={120}
                            allowDeselect={false}
                            data={ROLES.map(({ value, label }) => ({ value, label }))}
                            value={role}
                            onChange={(chosen) => {
                              const role = chosen as Role | null
                              if (role !== null && role !== 'OWNER' && invitedBy(email) > 0)
                                setDemoting({ id, email, role })
                              else if (role !== null) changeRole.mutate({ memberId: id, role })
                            }}
                          />
                        ) : (
                          roleName(role)
                        ),
                    },
                    {
                      label: 'Last seen',
                      sort: 'seen',
                      sortsDown: true,
                      cell: ({ lastSeenAt }) =>
                        lastSeenAt === null ? 'signed out' : <When at={lastSeenAt} time />,
                    },
                    {
                      label: 'Since',
                      wide: true,
                      sort: 'since',
                      sortsDown: true,
                      cell: ({ createdAt }) => <When at={createdAt} />,
                    },
                    {
                      label: 'Actions',
                      hiddenLabel: true,
                      right: true,
                      cell: (member) => (
                        <MoreMenu
                          label={`Actions for ${member.email}`}
                          size="sm"
                          actions={[
                            {
                              label: 'Reset password',
                              disabled: !may('createPasswordReset'),
                              onClick: () => setResetting(member),
                            },
                            {
                              label: 'Remove',
                              disabled: !may('removeMember') || isSoleOwner(member),
                              title: isSoleOwner(member) ? SOLE_OWNER : undefined,
                              onClick: () => setRemoving(member),
                              danger: true,
                            },
                          ]}
                        />
                      ),
                    },
                  ]}
                />
                <Pager after={after} next={page.next} />
              </Stack>
              {invitations.length > 0 && <OpenInvitations invitations={invitations} />}
            </Stack>
          )
        }}
      </Loaded>
      <FormDialog opened={make !== undefined} onClose={close} title="Invite a member">
        <InviteForm onDone={close} />
      </FormDialog>
      <Dialog opened={resetting !== null} onClose={() => setResetting(null)} title="Reset password">
        {resetting && <ResetLink member={resetting} onDone={() => setResetting(null)} />}
      </Dialog>
      <Confirm
        opened={demoting !== null}
        title={`Change the role of ${demoting?.email}?`}
        submit="Change role"
        busy={changeRole.isPending}
        error={changeRole.error}
        onConfirm={() => demoting && changeRole.mutate({ memberId: demoting.id, role: demoting.role })}
        onClose={() => setDemoting(null)}
      >
        {demoting && voided(demoting.email)} Another owner can invite them again.
      </Confirm>
      <Confirm
        opened={removing !== null}
        title={`Remove ${removing?.email}?`}
        submit="Remove"
        busy={remove.isPending}
        error={remove.error}
        onConfirm={() => removing && remove.mutate({ memberId: removing.id })}
        onClose={() => setRemoving(null)}
      >
        <List size="sm" spacing="xs">
          <List.Item>
            {removing?.sessions
              ? `They are signed out of ${units(removing.sessions, 'browser', 'browsers')} at once and can no longer sign in.`
              : 'They can no longer sign in. They are not signed in anywhere now.'}
          </List.Item>
          {removing && invitedBy(removing.email) > 0 && <List.Item>{voided(removing.email)}</List.Item>}
          <List.Item>Their entries stay in the audit log. You can invite them again.</List.Item>
        </List>
      </Confirm>
    </Page>
  )
}
