import { Button, Group, Paper, Stack, Text, Title } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import type { App } from '../api/session.ts'
import { useMay } from '../api/use-account.ts'
import { useArchiveApp } from '../forms/archive-app.tsx'
import { FormAlert } from '../ui/form-alert.tsx'
import { ButtonLink } from '../ui/links.tsx'
import { units } from '../ui/number.ts'
import { Tag } from '../ui/tag.tsx'
import { When } from '../ui/when.tsx'

export type AppDialog = 'clock' | 'origins' | 'rename' | 'archive' | 'delete'

interface AppCardProps {
  app: App
  /** whether other apps are in use */
  several: boolean
  onOpen: (is: AppDialog) => void
}

export function AppCard({ app, several, onOpen }: AppCardProps) {
  return (
    <Paper p="md" radius="md">
      <Stack gap="sm">
        <Group justify="space-between" wrap="nowrap" align="flex-start">
          <div>
            <Title order={2}>
              {app.deletion ? (
                app.name
              ) : (
                <Link to="/apps/$app" params={{ app: app.id }} className="row-link">
                  {app.name}
                </Link>
              )}
            </Title>
            <Text size="xs" c="dimmed" ff="monospace" className="break">
              {app.id}
            </Text>
          </div>
          <State app={app} />
        </Group>
        {app.deletion ? (
          <Text size="sm" c="dimmed" role="status">
            {units(app.deletion.rows, 'row', 'rows')} deleted so far. You can leave this page.
          </Text>
        ) : app.archivedAt !== null ? (
          <Archived app={app} at={app.archivedAt} onOpen={onOpen} />
        ) : (
          <InUse app={app} several={several} onOpen={onOpen} />
        )}
      </Stack>
    </Paper>
  )
}

function State({ app }: { app: App }) {
  if (app.deletion) return <Tag tone="bad">Being deleted</Tag>
  if (app.archivedAt !== null) return <Tag>Archived</Tag>
  return app.testClock ? <Tag tone="warn">Test clock</Tag> : <Tag tone="good">Real time</Tag>
}

function Archived({ app, at, onOpen }: Pick<AppCardProps, 'app' | 'onOpen'> & { at: string }) {
  const may = useMay()
  const archive = useArchiveApp()
  return (
    <>
      <FormAlert error={archive.error} />
      <Text size="sm" c="dimmed">
        Archived <When at={at} />. No new users or subscriptions; checks and usage still work.
      </Text>
      <Group gap="xs">
        <Button
          variant="default"
          size="xs"
          disabled={!may('archiveApp')}
          loading={archive.isPending}
          onClick={() => archive.mutate({ appId: app.id, archived: false })}
        >
          Restore
        </Button>
        <Button variant="default" size="xs" disabled={!may('deleteApp')} onClick={() => onOpen('delete')}>
          Delete
        </Button>
      </Group>
    </>
  )
}

function InUse({ app, several, onOpen }: AppCardProps) {
  const may = useMay()
  return (
    <>
      <Text size="sm" c="dimmed">
        {app.origins.length === 0
          ? 'No allowed origins: browsers cannot use the client API yet.'
          : `Allowed origins: ${app.origins.join(', ')}`}
      </Text>
      <Group gap="xs">
        {app.testClock && (
          <Button variant="default" size="xs" onClick={() => onOpen('clock')}>
            Move the clock
          </Button>
        )}
        <Button variant="default" size="xs" onClick={() => onOpen('origins')} disabled={!may('setOrigins')}>
          Allowed origins
        </Button>
        {several && (
          <ButtonLink variant="default" size="xs" to="/apps" search={{ copyTo: app.id }}>
            Copy a catalogue here
          </ButtonLink>
        )}
        <Button variant="default" size="xs" onClick={() => onOpen('rename')} disabled={!may('renameApp')}>
          Rename
        </Button>
        {several && (
          <Button variant="default" size="xs" onClick={() => onOpen('archive')} disabled={!may('archiveApp')}>
            Archive
          </Button>
        )}
      </Group>
    </>
  )
}
