import { Button, Group, List, Stack } from '@mantine/core'
import { graphql } from '../api/graphql.ts'
import { useChange } from '../api/use-api.ts'
import { FormAlert } from '../ui/form-alert.tsx'
import { units } from '../ui/number.ts'
import { When } from '../ui/when.tsx'

const REVOKE = graphql(`
  mutation RevokeApiKey($appId: String!, $id: String!) {
    revokeApiKey(appId: $appId, id: $id) { id }
  }
`)

interface RevokeKeyProps {
  appId: string
  apiKey: { id: string; name: string; prefix: string; lastUsedAt: string | null }
  /** how many other keys of the app work */
  others: number
  onDone: () => void
}

export function RevokeKey({ appId, apiKey, others, onDone }: RevokeKeyProps) {
  const revoke = useChange(REVOKE, { done: onDone, said: `“${apiKey.name}” revoked everywhere.` })
  return (
    <Stack>
      <FormAlert error={revoke.error} />
      <List size="sm" spacing="xs">
        <List.Item>
          Requests with “{apiKey.name}” ({apiKey.prefix}…) fail from now on, on every server.
        </List.Item>
        <List.Item>
          {apiKey.lastUsedAt === null ? (
            'The key has never been used.'
          ) : (
            <>
              It was last used on <When at={apiKey.lastUsedAt} time />.
            </>
          )}
        </List.Item>
        <List.Item>
          {others === 0
            ? 'No other key of this app works: without a new one, all requests of your backend fail.'
            : `${units(others, 'other key keeps', 'other keys keep')} working.`}
        </List.Item>
        <List.Item>This cannot be undone. To replace a key without a gap, rotate it instead.</List.Item>
      </List>
      <Group justify="flex-end" gap="xs">
        <Button variant="default" onClick={onDone} data-autofocus>
          Cancel
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
