import { Button, Group, Stack, Text } from '@mantine/core'
import { graphql } from '../api/graphql.ts'
import { useChange } from '../api/use-api.ts'
import { FormAlert } from '../ui/form-alert.tsx'

const REVOKE = graphql(`
  mutation RevokeApiKey($appId: String!, $id: String!) {
    revokeApiKey(appId: $appId, id: $id) { id }
  }
`)

interface RevokeKeyProps {
  appId: string
  apiKey: { id: string; name: string; prefix: string }
  onDone: () => void
}

export function RevokeKey({ appId, apiKey, onDone }: RevokeKeyProps) {
  const revoke = useChange(REVOKE, { done: onDone, said: 'Key revoked everywhere.' })
  return (
    <Stack>
      <FormAlert error={revoke.error} />
      <Text size="sm">
        Requests with “{apiKey.name}” ({apiKey.prefix}…) fail from now on, on every server. This cannot be
        undone.
      </Text>
      <Group justify="flex-end" gap="xs">
        <Button variant="default" onClick={onDone} data-autofocus>
          Keep it
        </Button>
        <Button
          color="red.9"
          loading={revoke.isPending}
          onClick={() => revoke.mutate({ appId, id: apiKey.id })}
        >
          Revoke the key
        </Button>
      </Group>
    </Stack>
  )
}
