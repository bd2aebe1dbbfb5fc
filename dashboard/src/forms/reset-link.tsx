import { Stack, Text } from '@mantine/core'
import { graphql } from '../api/graphql.ts'
import { useChange } from '../api/use-api.ts'
import { FormAlert } from '../ui/form-alert.tsx'
import { LinkOnce } from '../ui/link-once.tsx'
import { dateTimeOf } from '../ui/when.tsx'
import { FormActions } from './form-actions.tsx'

const CREATE = graphql(`
  mutation CreatePasswordReset($memberId: String!) {
    createPasswordReset(memberId: $memberId) { email url expiresAt emailed }
  }
`)

/** A link by which a member sets a new password. */
export function ResetLink({
  member: { id, email },
  onDone,
}: {
  member: { id: string; email: string }
  onDone: () => void
}) {
  const create = useChange(CREATE)
  const link = create.data?.createPasswordReset
  if (link) {
    return (
      <LinkOnce label="The password reset link" url={link.url} onDone={onDone}>
        {link.emailed
          ? `Emailed to ${link.email}. You can also send the link yourself.`
          : `Send this link to ${link.email}.`}
        {link.emailed === false && ' The email could not be sent.'} It is shown only once, can be used once,
        and expires {dateTimeOf(link.expiresAt)}.
      </LinkOnce>
    )
  }
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        create.mutate({ memberId: id })
      }}
    >
      <Stack>
        <FormAlert error={create.error} />
        <Text size="sm">
          {email} sets a new password with a link that you send. The current password and sessions keep
          working until the link is used. Earlier links stop working.
        </Text>
        <FormActions submit="Create link" busy={create.isPending} onCancel={onDone} />
      </Stack>
    </form>
  )
}
