import { Button, Text } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { isUnanswered, messageOf } from '../api/api-error.ts'
import { graphql } from '../api/graphql.ts'
import { forgetSession } from '../api/session.ts'
import { useAsk } from '../api/use-api.ts'
import { ResetPasswordForm } from '../forms/reset-password-form.tsx'
import { useLinkToken } from '../link-token.ts'
import { Entrance } from '../ui/entrance.tsx'
import { AnchorLink } from '../ui/links.tsx'

const RESET = graphql(`
  query PasswordReset($token: String!) {
    passwordReset(token: $token) { email }
  }
`)

/** The page of a password reset link. */
export function ResetPage() {
  const client = useQueryClient()
  const navigate = useNavigate()
  const token = useLinkToken('/reset') ?? ''
  const asked = useAsk(RESET, { token })
  const enter = () => {
    forgetSession(client)
    void navigate({ to: '/', replace: true })
  }
  if (isUnanswered(asked.error)) {
    return (
      <Entrance title="This link could not be checked" about={messageOf(asked.error)}>
        <Button variant="default" onClick={() => void asked.refetch()}>
          Try again
        </Button>
      </Entrance>
    )
  }
  if (asked.error) {
    return (
      <Entrance title="This link no longer works" about={`${messageOf(asked.error)}.`}>
        <Text>
          Remember the password?{' '}
          <AnchorLink to="/sign-in" underline="always">
            Sign in
          </AnchorLink>
        </Text>
      </Entrance>
    )
  }
  const email = asked.data?.passwordReset?.email
  return (
    <Entrance
      title="Set a new password"
      about={`${email ? `For ${email}. ` : ''}You are signed out everywhere else.`}
    >
      <ResetPasswordForm token={token} onDone={enter} />
    </Entrance>
  )
}
