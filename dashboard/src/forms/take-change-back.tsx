import { Button } from '@mantine/core'
import { graphql } from '../api/graphql.ts'
import { useMay } from '../api/use-account.ts'
import { useChange } from '../api/use-api.ts'

const TAKE_BACK = graphql(`
  mutation CancelScheduledChange($appId: String!, $userId: String!) {
    cancelScheduledChange(appId: $appId, userId: $userId) { id }
  }
`)

/** Takes a scheduled change of plan back. It can be scheduled again, so nothing is asked first. */
export function TakeChangeBack({ appId, userId }: { appId: string; userId: string }) {
  const may = useMay()
  const takeBack = useChange(TAKE_BACK, { said: 'The plan stays as it is.' })
  return (
    <Button
      size="compact-sm"
      variant="default"
      loading={takeBack.isPending}
      disabled={!may('cancelScheduledChange')}
      onClick={() => takeBack.mutate({ appId, userId })}
      aria-label={`Take back the change of ${userId}`}
    >
      Take back
    </Button>
  )
}
