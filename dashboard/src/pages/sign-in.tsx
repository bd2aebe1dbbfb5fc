import { Code, Stack, Text } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { useRouter, useSearch } from '@tanstack/react-router'
import { graphql } from '../api/graphql.ts'
import { forgetSession } from '../api/session.ts'
import { useAsk } from '../api/use-api.ts'
import { SignInForm } from '../forms/sign-in-form.tsx'
import { Entrance } from '../ui/entrance.tsx'

const HAS_OWNER = graphql(`
  query HasOwner {
    hasOwner
  }
`)

export function SignInPage() {
  const client = useQueryClient()
  const router = useRouter()
  const { to } = useSearch({ from: '/sign-in' })
  const asked = useAsk(HAS_OWNER, {})
  const enter = () => {
    forgetSession(client)
    // Only to one of our own pages: the address may come from anywhere.
    void router.navigate({ href: to?.match(/^\/(?![/\\])/) ? to : '/', replace: true })
  }
  if (asked.data?.hasOwner === false) return <NoOwnerYet />
  return (
    <Entrance title="Sign in" about="Manage your plans, users and limits.">
      <SignInForm onDone={enter} />
    </Entrance>
  )
}

/** Nobody could sign in: the way in is the link that only whoever runs the service has seen. */
function NoOwnerYet() {
  return (
    <Entrance title="Almost there" about="This installation has no owner yet.">
      <Stack gap="sm">
        <Text>
          Tollgate printed a link for its owner when it started: look for <b>Owner</b> in the terminal or the
          log, and open that link.
        </Text>
        <Text>
          To see it again: <Code>npx tollgate start --reset-owner</Code>
        </Text>
      </Stack>
    </Entrance>
  )
}
