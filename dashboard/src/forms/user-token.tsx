import { Button, Stack, Text } from '@mantine/core'
import { graphql } from '../api/graphql.ts'
import { useChange } from '../api/use-api.ts'
import { pageSdk, shellQuoted } from '../snippets.ts'
import { CodeBlock } from '../ui/code-block.tsx'
import { FormAlert } from '../ui/form-alert.tsx'

const MAKE = graphql(`
  mutation GenerateUserToken($appId: String!, $userId: String!) {
    generateUserToken(appId: $appId, userId: $userId) { token }
  }
`)

export function UserToken({ appId, userId }: { appId: string; userId: string }) {
  const make = useChange(MAKE)
  const token = make.data?.generateUserToken?.token
  return (
    <Stack>
      <FormAlert error={make.error} />
      <Text size="sm">
        A page or app with this token can read the access and usage of this user, and no other, for one hour.
        Your backend creates tokens with <code>generateUserToken</code>; this one is for trying it out.
      </Text>
      {token === undefined ? (
        <div>
          <Button loading={make.isPending} onClick={() => make.mutate({ appId, userId })} data-autofocus>
            Create a token
          </Button>
        </div>
      ) : (
        <>
          <CodeBlock label="The token" text={token} />
          <CodeBlock label="A call with curl" text={clientCurl(token)} />
          <CodeBlock label="In a page" text={pageSdk('subscriptions()', token)} />
          <Text size="sm" c="dimmed">
            The page's origin must be one of the app's allowed origins. Programs that are not web pages can
            call from anywhere.
          </Text>
        </>
      )}
    </Stack>
  )
}

const clientCurl = (token: string) =>
  [
    `curl ${location.origin}/client/graphql \\`,
    `  -H 'Authorization: ${token}' \\`,
    `  -H 'Content-Type: application/json' \\`,
    `  -d ${shellQuoted(JSON.stringify({ query: '{ me { id name } subscriptions { package { name } } }' }))}`,
  ].join('\n')
