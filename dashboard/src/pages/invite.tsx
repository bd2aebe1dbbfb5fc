import { Button } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { isUnanswered, messageOf } from '../api/api-error.ts'
import { graphql } from '../api/graphql.ts'
import { forgetSession } from '../api/session.ts'
import { useAsk } from '../api/use-api.ts'
import { AcceptInvitationForm } from '../forms/accept-invitation-form.tsx'
import { useLinkToken } from '../link-token.ts'
import { Entrance } from '../ui/entrance.tsx'

const OFFER = graphql(`
  query Invitation($token: String!) {
    invitation(token: $token) { email role }
  }
`)

/** The page of an invitation link. */
export function InvitePage() {
  const client = useQueryClient()
  const navigate = useNavigate()
  const token = useLinkToken('/invite') ?? ''
  const asked = useAsk(OFFER, { token })
  const offer = asked.data?.invitation
  const enter = () => {
    forgetSession(client)
    void navigate({ to: '/', replace: true })
  }
  if (isUnanswered(asked.error)) {
    return (
      <Entrance title="This invitation could not be loaded" about={messageOf(asked.error)}>
        <Button variant="default" onClick={() => void asked.refetch()}>
          Try again
        </Button>
      </Entrance>
    )
  }
  if (asked.error) {
    return <Entrance title="This invitation is not valid" about={messageOf(asked.error)} />
  }
  return (
    <Entrance
      title="Join the dashboard"
      about={
        offer ? `${offer.email}, as ${offer.role.toLowerCase()}. Choose a password.` : 'Choose a password.'
      }
    >
      <AcceptInvitationForm token={token} onDone={enter} />
    </Entrance>
  )
}
