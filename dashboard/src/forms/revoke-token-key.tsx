import { Button, Group, Stack, Text } from '@mantine/core'
import { graphql } from '../api/graphql.ts'
import { useChange } from '../api/use-api.ts'
import { FormAlert } from '../ui/form-alert.tsx'

const REVOKE = graphql(`
  mutation RevokeTokenKey($appId: String!, $id: String!) {
    revokeTokenKey(appId: $appId, id: $id) { id }
  }
`)

interface RevokeTokenKeyProps {
  appId: string
  id: string
  onDone: () => void
}

export function RevokeTokenKey({ appId, id, onDone }: RevokeTokenKeyProps) {
  const revoke = useChange(REVOKE, { done: onDone, said: 'Token key revoked everywhere.' })
  return (
    <Stack>
      <FormAlert error={revoke.error} />
      <Text size="sm" className="break">
        Every token signed by {id} is refused immediately, on every server. Users who hold one need a new
        token. This cannot be undone.
      </Text>
      <Group justify="flex-end" gap="xs">
        <Button variant="default" onClick={onDone} data-autofocus>
          Cancel
        </Button>
        <Button color="red.9" loading={revoke.isPending} onClick={() => revoke.mutate({ appId, id })}>
          Revoke the token key
        </Button>
      </Group>
    </Stack>
  )
}
