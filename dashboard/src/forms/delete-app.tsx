import { Button, Group, List, Stack, Text, TextInput } from '@mantine/core'
import { useState } from 'react'
import { graphql } from '../api/graphql.ts'
import type { App } from '../api/session.ts'
import { useAsk, useChange } from '../api/use-api.ts'
import { Dialog } from '../ui/dialog.tsx'
import { FormAlert } from '../ui/form-alert.tsx'
import { Loaded } from '../ui/loaded.tsx'
import { Note } from '../ui/note.tsx'
import { units } from '../ui/number.ts'
import { SkeletonLines } from '../ui/skeletons.tsx'

const USE = graphql(`
  query AppUse($appId: String!) {
    appUse(appId: $appId) {
      users subscriptions ledgerEntries features packages payments auditEntries keys refusal
    }
  }
`)
const DELETE = graphql(`
  mutation DeleteApp($appId: String!, $confirm: String!) {
    deleteApp(appId: $appId, confirm: $confirm) { id }
  }
`)
/** Counting a large app takes a while. */
const PATIENCE_MS = 60_000

interface DeleteAppProps {
  app: App | undefined
  onClose: () => void
}

/** Deletes an app for good, once its id has been typed. */
export function DeleteApp({ app, onClose }: DeleteAppProps) {
  return (
    <Dialog opened={app !== undefined} onClose={onClose} title={`Delete ${app?.name} permanently`}>
      {app && <Confirmation app={app} onClose={onClose} />}
    </Dialog>
  )
}

function Confirmation({ app, onClose }: { app: App; onClose: () => void }) {
  const [typed, setTyped] = useState('')
  const use = useAsk(USE, { appId: app.id }, { patienceMs: PATIENCE_MS })
  const remove = useChange(DELETE, {
    done: onClose,
    said: `${app.name} is being deleted.`,
  })
  const refusal = use.data?.appUse?.refusal ?? null
  return (
    <Stack>
      <FormAlert error={remove.error} />
      <Loaded of={use} skeleton={<SkeletonLines />}>
        {({ appUse: found }) =>
          found &&
          (found.refusal !== null ? (
            <Note tone="warn">{found.refusal}.</Note>
          ) : (
            <>
              <List size="sm" spacing="xxs">
                <List.Item>
                  {units(found.users, 'user', 'users')} with{' '}
                  {units(found.subscriptions, 'subscription', 'subscriptions')},{' '}
                  {units(found.ledgerEntries, 'usage record', 'usage records')} and{' '}
                  {units(found.payments, 'payment', 'payments')} are deleted.
                </List.Item>
                <List.Item>
                  So are {units(found.features, 'feature', 'features')},{' '}
                  {units(found.packages, 'package', 'packages')} with their prices and templates, and{' '}
                  {units(found.auditEntries, 'audit log entry', 'audit log entries')}.
                </List.Item>
                <List.Item>
                  {units(found.keys, 'API key stops', 'API keys stop')} working at once, and so do user
                  tokens.
                </List.Item>
                <List.Item>The audit log keeps one entry: that you deleted it.</List.Item>
              </List>
              <Text size="sm" fw={600}>
                This cannot be undone.
              </Text>
              <TextInput
                label={`Type ${app.id} to confirm`}
                value={typed}
                onChange={(event) => setTyped(event.currentTarget.value)}
                autoComplete="off"
              />
            </>
          ))
        }
      </Loaded>
      <Group justify="flex-end" gap="xs">
        <Button variant="default" onClick={onClose} data-autofocus>
          Cancel
        </Button>
        {refusal === null && (
          <Button
            color="red.9"
            disabled={typed !== app.id || !use.data}
            loading={remove.isPending}
            onClick={() => remove.mutate({ appId: app.id, confirm: typed })}
          >
            Delete permanently
          </Button>
        )}
      </Group>
    </Stack>
  )
}
