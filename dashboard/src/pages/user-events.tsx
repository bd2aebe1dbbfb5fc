import { Box, Group, List, Select, Stack, Text } from '@mantine/core'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { graphql } from '../api/graphql.ts'
import { useAsk } from '../api/use-api.ts'
import { CodeBlock } from '../ui/code-block.tsx'
import { Loaded } from '../ui/loaded.tsx'
import { Pager } from '../ui/pager.tsx'
import { SkeletonTable } from '../ui/skeletons.tsx'
import { When } from '../ui/when.tsx'

const EVENTS = graphql(`
  query UserEvents($appId: String!, $userId: String!, $types: [String!], $after: String) {
    userEvents(appId: $appId, userId: $userId, types: $types, after: $after) {
      next
      rows { id type at sequence data }
    }
  }
`)
const TYPES = graphql(`
  query UserEventTypes {
    eventTypes
  }
`)

/** The events about a user, newest first, each with its payload. */
export function UserEvents({ appId, userId }: { appId: string; userId: string }) {
  const { type, after } = useSearch({ from: '/inside/apps/$app/users/$id' })
  const navigate = useNavigate({ from: '/apps/$app/users/$id' })
  const types = useAsk(TYPES, {}).data?.eventTypes ?? []
  const asked = useAsk(
    EVENTS,
    { appId, userId, types: type === undefined ? null : [type], after: after ?? null },
    { keepPrevious: true },
  )
  return (
    <Stack>
      <Select
        label="Type"
        placeholder="All types"
        w={280}
        clearable
        searchable
        data={types}
        value={type ?? null}
        onChange={(chosen) =>
          void navigate({ search: { tab: 'events', ...(chosen !== null && { type: chosen }) } })
        }
      />
      <Loaded of={asked} skeleton={<SkeletonTable columns={3} lines={1} />}>
        {({ userEvents }) =>
          userEvents?.rows.length === 0 ? (
            <Text c="dimmed">No events in the retention period.</Text>
          ) : (
            <>
              <List listStyleType="none" spacing="xs" aria-label="Events">
                {userEvents?.rows.map((event) => (
                  <List.Item key={event.id}>
                    <details>
                      <summary>
                        <Group component="span" gap="sm" display="inline-flex" style={{ rowGap: 0 }}>
                          <Text span size="sm" fw={550}>
                            {event.type}
                          </Text>
                          <Text span size="sm" c="dimmed">
                            <When at={event.at} time />
                          </Text>
                        </Group>
                      </summary>
                      <Box mt="xs">
                        <CodeBlock
                          label={`Payload of ${event.type}`}
                          text={JSON.stringify(
                            { id: event.id, sequence: event.sequence, data: event.data },
                            null,
                            2,
                          )}
                        />
                      </Box>
                    </details>
                  </List.Item>
                ))}
              </List>
              <Pager after={after} next={userEvents?.next} />
            </>
          )
        }
      </Loaded>
    </Stack>
  )
}
