import { Button, Group, List, Stack } from '@mantine/core'
import { graphql } from '../api/graphql.ts'
import type { App } from '../api/session.ts'
import { useAsk, useChange } from '../api/use-api.ts'
import { Dialog } from '../ui/dialog.tsx'
import { FormAlert } from '../ui/form-alert.tsx'
import { Loaded } from '../ui/loaded.tsx'
import { units } from '../ui/number.ts'
import { SkeletonLines } from '../ui/skeletons.tsx'

const USE = graphql(`
  query AppArchived($appId: String!) {
    appUse(appId: $appId) { users keys openLinks }
  }
`)
const ARCHIVE = graphql(`
  mutation ArchiveApp($appId: String!, $archived: Boolean!) {
    archiveApp(appId: $appId, archived: $archived) { name archivedAt }
  }
`)

/** Archives an app or brings it back; what was done is said, with a way back. */
export function useArchiveApp(done?: () => void) {
  const back = useChange(ARCHIVE, { said: ({ archiveApp: app }) => `${app?.name}: archiving undone.` })
  return useChange(ARCHIVE, {
    ...(done && { done }),
    said: ({ archiveApp: app }) => `${app?.name} ${app?.archivedAt ? 'archived' : 'restored'}.`,
    undo:
      (_, { appId, archived }) =>
      () =>
        back.mutate({ appId, archived: !archived }),
  })
}

interface ArchiveAppProps {
  app: App | undefined
  onClose: () => void
}

/** Says what archiving an app does before it does it. */
export function ArchiveApp({ app, onClose }: ArchiveAppProps) {
  return (
    <Dialog opened={app !== undefined} onClose={onClose} title={`Archive ${app?.name}?`}>
      {app && <Confirmation app={app} onClose={onClose} />}
    </Dialog>
  )
}

function Confirmation({ app, onClose }: { app: App; onClose: () => void }) {
  const use = useAsk(USE, { appId: app.id })
  const archive = useArchiveApp(onClose)
  return (
    <Stack>
      <FormAlert error={archive.error} />
      <Loaded of={use} skeleton={<SkeletonLines />}>
        {({ appUse }) =>
          appUse && (
            <List size="sm" spacing="xs">
              <List.Item>It is hidden from the app menu and listed on this page under “Archived”.</List.Item>
              <List.Item>
                It accepts no new users, subscriptions, trials or payment links, and no changes to its
                catalogue. Such calls return an error.
              </List.Item>
              <List.Item>
                {appUse.users === 0
                  ? 'It has no users.'
                  : `${units(appUse.users, 'user keeps', 'users keep')} what they have: checks and usage work as before, and renewals are charged.`}
              </List.Item>
              <List.Item>
                {appUse.keys === 0
                  ? 'It has no API keys.'
                  : `${units(appUse.keys, 'API key keeps', 'API keys keep')} working.`}
              </List.Item>
              {appUse.openLinks > 0 && (
                <List.Item>
                  {units(appUse.openLinks, 'payment link', 'payment links')} sent earlier can still be paid.
                </List.Item>
              )}
              <List.Item>You can restore it at any time.</List.Item>
            </List>
          )
        }
      </Loaded>
      <Group justify="flex-end" gap="xs">
        <Button variant="default" onClick={onClose} data-autofocus>
          Cancel
        </Button>
        <Button
          loading={archive.isPending}
          disabled={!use.data}
          onClick={() => archive.mutate({ appId: app.id, archived: true })}
        >
          Archive
        </Button>
      </Group>
    </Stack>
  )
}
