import { Divider, Group } from '@mantine/core'
import { useNavigate } from '@tanstack/react-router'
import type { ComponentProps } from 'react'
import { DeleteUser } from '../forms/delete-user.tsx'
import { ExportUser } from '../forms/export-user.tsx'
import { UserForm } from '../forms/user-form.tsx'

type UserDetailsProps = Pick<ComponentProps<typeof UserForm>, 'appId' | 'user'>

/** Edits, exports and deletes a user. */
export function UserDetails({ appId, user }: UserDetailsProps) {
  const navigate = useNavigate({ from: '/apps/$app/users/$id' })
  return (
    <>
      <UserForm
        appId={appId}
        user={user}
        onRenamed={(id) => void navigate({ params: { app: appId, id }, search: { tab: 'details' } })}
      />
      <Divider my="xl" maw={560} />
      <Group gap="xs" align="flex-start">
        <ExportUser appId={appId} id={user.id} />
        <DeleteUser
          appId={appId}
          id={user.id}
          onDeleted={() => navigate({ to: '/apps/$app/users', params: { app: appId } })}
        />
      </Group>
    </>
  )
}
