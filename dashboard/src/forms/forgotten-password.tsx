import { Button, Code, Stack, Text, TextInput } from '@mantine/core'
import { useState } from 'react'
import { graphql } from '../api/graphql.ts'
import { useAsk, useChange } from '../api/use-api.ts'
import { FormAlert } from '../ui/form-alert.tsx'
import { Note } from '../ui/note.tsx'

const SENDS_EMAIL = graphql(`
  query SendsEmail {
    sendsEmail
  }
`)

const REQUEST = graphql(`
  mutation RequestPasswordReset($email: String!) {
    requestPasswordReset(email: $email)
  }
`)

/** Sends a reset link, or says who can make one if the service sends no email. */
export function ForgottenPassword({ email }: { email: string }) {
  const asked = useAsk(SENDS_EMAIL, {})
  const [entered, setEntered] = useState(email)
  const request = useChange(REQUEST, { signsIn: true })
  const to = entered.trim()
  if (asked.data === undefined) return null
  if (!asked.data.sendsEmail)
    return (
      <Note tone="accent" title="Reset your password">
        <Text size="sm">
          Ask an owner of this installation: under Members, <b>Reset password</b> creates a link for you. If
          you are the only owner, run <Code>npx tollgate start --reset-owner</Code> on the server and open the
          link that it prints.
        </Text>
      </Note>
    )
  if (request.isSuccess)
    return (
      <Note tone="good" title="Check your email" role="status">
        <Text size="sm">
          If {request.variables.email} has an account, a link to set a new password is on its way. It expires
          after a day.
        </Text>
      </Note>
    )
  return (
    <Note tone="accent" title="Reset your password">
      <Stack gap="xs">
        <FormAlert error={request.error} />
        <TextInput
          label="Email of your account"
          type="email"
          autoComplete="username"
          value={entered}
          onChange={(event) => setEntered(event.currentTarget.value)}
        />
        <Button
          variant="default"
          disabled={to === ''}
          loading={request.isPending}
          onClick={() => request.mutate({ email: to })}
        >
          Email a reset link
        </Button>
      </Stack>
    </Note>
  )
}
