import { Button, Group, Text } from '@mantine/core'
import { graphql, type ResultOf } from '../api/graphql.ts'
import { useMay } from '../api/use-account.ts'
import { useChange } from '../api/use-api.ts'
import { ButtonLink } from '../ui/links.tsx'
import { Note } from '../ui/note.tsx'
import { When } from '../ui/when.tsx'
import type { PACKAGE } from './package-query.ts'
import { REACH_LABELS } from './publish-summary.ts'

const CANCEL = graphql(`
  mutation CancelScheduledPublication($appId: String!, $id: String!, $version: String) {
    cancelScheduledPublication(appId: $appId, id: $id, expectedVersion: $version) { id }
  }
`)

const AGAIN = graphql(`
  mutation ScheduleAgain($appId: String!, $id: String!, $at: String!, $for: Reach!, $note: String) {
    publishPackage(appId: $appId, id: $id, at: $at, for: $for, note: $note) { id }
  }
`)

type Package = NonNullable<ResultOf<typeof PACKAGE>['package']>

interface ScheduledPublicationProps {
  appId: string
  package: Package
}

/** When the package will be published, or why it was not, with the ways to change that. */
export function ScheduledPublication({ appId, package: p }: ScheduledPublicationProps) {
  const may = useMay()
  const { id, name, version, scheduled } = p
  const again = useChange(AGAIN, { said: `The publication of ${name} is scheduled again.` })
  const cancel = useChange(CANCEL, {
    said: `The scheduled publication of ${name} is cancelled. The draft is kept.`,
    undo: () => {
      if (!scheduled || scheduled.problem !== null) return undefined
      const { at, for: reach, note } = scheduled
      return () => again.mutate({ appId, id, at, for: reach, note })
    },
  })
  if (!scheduled) return null
  const { at, for: reach, author, note, problem } = scheduled
  return (
    <Note tone={problem === null ? 'accent' : 'bad'} role="status">
      <Group justify="space-between">
        <div>
          <Text fw={600} size="sm">
            {problem === null ? 'Scheduled to be published on ' : 'Not published on '}
            <When at={at} time />
          </Text>
          <Text size="sm">
            {problem ?? (
              <>
                {p.status === 'PUBLISHED' && `For: ${REACH_LABELS[reach].toLowerCase()}. `}
                Scheduled by {author}. The package cannot be edited until then.
              </>
            )}
          </Text>
          {note !== null && (
            <Text size="sm" c="dimmed" className="break">
              {note}
            </Text>
          )}
        </div>
        <Group gap="xs">
          <ButtonLink
            size="xs"
            variant="default"
            to="/apps/$app/packages/$id/publish"
            params={{ app: appId, id }}
          >
            {problem === null ? 'Change' : 'Review and publish'}
          </ButtonLink>
          <Button
            size="xs"
            variant="default"
            loading={cancel.isPending}
            disabled={!may('cancelScheduledPublication')}
            onClick={() => cancel.mutate({ appId, id, version })}
          >
            {problem === null ? 'Unschedule' : 'Dismiss'}
          </Button>
        </Group>
      </Group>
    </Note>
  )
}
