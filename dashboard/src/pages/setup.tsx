import { Text } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { forgetSession } from '../api/session.ts'
import { SetOwnerForm } from '../forms/set-owner-form.tsx'
import { useLinkToken } from '../link-token.ts'
import { Entrance } from '../ui/entrance.tsx'
import { AnchorLink } from '../ui/links.tsx'

/** The page of the setup link printed at the first start. */
export function SetupPage() {
  const client = useQueryClient()
  const navigate = useNavigate()
  const token = useLinkToken('/setup')
  const enter = () => {
    forgetSession(client)
    void navigate({ to: '/', replace: true })
  }
  if (token === undefined) {
    return (
      <Entrance
        title="This link is incomplete"
        about="Open the whole link that Tollgate printed when it started."
      >
        <Text>
          Already set up?{' '}
          <AnchorLink to="/sign-in" underline="always">
            Sign in
          </AnchorLink>
        </Text>
      </Entrance>
    )
  }
  return (
    <Entrance title="Set up Tollgate" about="You become the owner of this installation.">
      <SetOwnerForm token={token} onDone={enter} />
    </Entrance>
  )
}
