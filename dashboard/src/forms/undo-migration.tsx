import { Button, Group, Stack, Text } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { OVER_ALL_USERS_MS } from '../api/answer-in-time.ts'
import { graphql } from '../api/graphql.ts'
import { useMay } from '../api/use-account.ts'
import { useAsk, useChange } from '../api/use-api.ts'
import { Dialog } from '../ui/dialog.tsx'
import { FormAlert } from '../ui/form-alert.tsx'
import { Loaded } from '../ui/loaded.tsx'
import { number } from '../ui/number.ts'
import { SkeletonLines } from '../ui/skeletons.tsx'

const MIGRATION = graphql(`
  query Migration($appId: String!, $id: String!) {
    migration(appId: $appId, id: $id) { subscriptions moved }
  }
`)
const UNDO = graphql(`
  mutation UndoMigration($appId: String!, $id: String!) {
    undoMigration(appId: $appId, id: $id) { id }
  }
`)

interface UndoMigrationProps {
  appId: string
  migration: { id: string; fromVersion: number; toVersion: number }
}

export function UndoMigration({ appId, migration }: UndoMigrationProps) {
  const { id, fromVersion, toVersion } = migration
  const [opened, { open, close }] = useDisclosure()
  const may = useMay()
  const asked = useAsk(MIGRATION, { appId, id }, { enabled: opened, patienceMs: OVER_ALL_USERS_MS })
  const undo = useChange(UNDO, {
    done: close,
    said: `Move undone. All subscribers are on version ${fromVersion} again.`,
    patienceMs: OVER_ALL_USERS_MS,
  })
  return (
    <>
      <Button
        size="compact-sm"
        variant="default"
        onClick={open}
        disabled={!may('undoMigration')}
        aria-label={`Undo the move from version ${fromVersion} to ${toVersion}`}
      >
        Undo
      </Button>
      <Dialog opened={opened} onClose={close} title="Undo the move" ta="left">
        <Stack>
          <FormAlert error={undo.error} />
          <Loaded of={asked} skeleton={<SkeletonLines />}>
            {({ migration }) =>
              migration && (
                <Text size="sm">
                  {number(migration.moved)} of {number(migration.subscriptions)} subscribers have been moved.
                  They return to version {fromVersion}; the others are not moved.
                </Text>
              )
            }
          </Loaded>
          <Group justify="flex-end" gap="xs">
            <Button variant="default" onClick={close}>
              Cancel
            </Button>
            <Button loading={undo.isPending} onClick={() => undo.mutate({ appId, id })}>
              Undo the move
            </Button>
          </Group>
        </Stack>
      </Dialog>
    </>
  )
}
