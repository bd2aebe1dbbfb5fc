import { Text } from '@mantine/core'
import { Link } from '@tanstack/react-router'

/** A user by name, with the id below; by the id where there is no name. */
export function UserLink({
  appId,
  id,
  name,
  tab,
}: {
  appId: string
  id: string
  name: string | null | undefined
  /** of the user's page */
  tab?: 'subscriptions'
}) {
  return (
    <div className="named">
      <Link
        to="/apps/$app/users/$id"
        params={{ app: appId, id }}
        search={tab ? { tab } : {}}
        className="row-link"
      >
        {name ?? id}
      </Link>
      {name && (
        <Text size="xs" c="dimmed" ff="monospace">
          {id}
        </Text>
      )}
    </div>
  )
}
