import { Button, Stack, Text } from '@mantine/core'
import { graphql } from '../api/graphql.ts'
import { useChange } from '../api/use-api.ts'
import { CodeBlock } from '../ui/code-block.tsx'
import { FormAlert } from '../ui/form-alert.tsx'
import { dateTimeOf } from '../ui/when.tsx'
import { FormActions } from './form-actions.tsx'

const CREATE = graphql(`
  mutation CreatePasswordReset($memberId: String!) {
    createPasswordReset(memberId: $memberId) { email url expiresAt }
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
      <Stack>
        <Text size="sm">
          Send this link to {link.email}. It is shown only once, can be used once, and expires{' '}
          {dateTimeOf(link.expiresAt)}.
        </Text>
        <CodeBlock label="The password reset link" text={link.url} />
        <Button onClick={onDone} style={{ alignSelf: 'flex-end' }}>
          Done
        </Button>
      </Stack>
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
