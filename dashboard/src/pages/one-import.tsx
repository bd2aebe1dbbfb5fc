import { Button, Group, Progress, Stack, Text } from '@mantine/core'
import { IconDownload } from '@tabler/icons-react'
import { useQueryClient } from '@tanstack/react-query'
import { useEffect, useRef, useState } from 'react'
import { graphql, type ResultOf } from '../api/graphql.ts'
import { reportUrl } from '../api/upload-users.ts'
import { useMay } from '../api/use-account.ts'
import { useAsk, useChange } from '../api/use-api.ts'
import { FormAlert } from '../ui/form-alert.tsx'
import { Note } from '../ui/note.tsx'
import { number, units } from '../ui/number.ts'
import { ImportRows } from './import-rows.tsx'
import { ImportStateTag } from './import-state.tsx'

const IMPORT = graphql(`
  query UserImport($appId: String!, $id: String!) {
    userImport(appId: $appId, id: $id) {
      id state failure bytesTotal bytesRead rows bad unchanged changed newUsers applied created refused undone removed kept
    }
  }
`)
const APPLY = graphql(`
  mutation ApplyUserImport($appId: String!, $id: String!) {
    applyUserImport(appId: $appId, id: $id) { id }
  }
`)
const UNDO = graphql(`
  mutation UndoUserImport($appId: String!, $id: String!) {
    undoUserImport(appId: $appId, id: $id) { id }
  }
`)
type Import = NonNullable<ResultOf<typeof IMPORT>['userImport']>

const POLL_MS = 700
const BUSY = ['READING', 'APPLYING', 'UNDOING']

/** One import, from the dry run to the undo. */
export function OneImport({ appId, id }: { appId: string; id: string }) {
  const may = useMay()
  const [busy, setBusy] = useState(true)
  const asked = useAsk(IMPORT, { appId, id }, { refetchInterval: busy && POLL_MS })
  const apply = useChange(APPLY)
  const undo = useChange(UNDO)
  const one = asked.data?.userImport
  useEffect(() => setBusy(one === undefined || one === null || BUSY.includes(one.state)), [one])
  useReloadWhenDone(one)
  if (!one) {
    return (
      <Stack gap="xs" role="status">
        <Text c="dimmed">Uploading the file…</Text>
        <Progress value={100} animated aria-label="Uploading" />
      </Stack>
    )
  }
  return (
    <Stack gap="lg">
      <FormAlert error={apply.error ?? undo.error} />
      <Group justify="space-between">
        <ImportStateTag state={one.state} />
        <Group gap="xs">
          <Button
            variant="default"
            component="a"
            href={reportUrl(appId, id)}
            download
            leftSection={<IconDownload size={16} aria-hidden />}
          >
            Report
          </Button>
          {one.state === 'CHECKED' && (
            <Button
              loading={apply.isPending}
              disabled={!may('applyUserImport') || one.changed + one.newUsers === 0}
              onClick={() => apply.mutate({ appId, id })}
            >
              {applyLabel(one)}
            </Button>
          )}
          {one.state === 'APPLIED' && (
            <Button
              variant="default"
              loading={undo.isPending}
              disabled={!may('undoUserImport')}
              onClick={() => undo.mutate({ appId, id })}
            >
              Undo {units(one.applied + one.created, 'change', 'changes')}
            </Button>
          )}
        </Group>
      </Group>
      {one.failure !== null && (
        <Note tone="bad" role="alert" title="The import stopped">
          {one.failure}
        </Note>
      )}
      {BUSY.includes(one.state) && <Bar one={one} />}
      <Text aria-live="polite">{summary(one)}</Text>
      {!BUSY.includes(one.state) && <ImportRows appId={appId} one={one} />}
    </Stack>
  )
}

/**
 * Reloads everything on the screen once the work in the background is over: rows that were read during it, and users
 * that it changed, are out of date.
 */
function useReloadWhenDone(one: Import | null | undefined): void {
  const client = useQueryClient()
  const result = !one ? undefined : BUSY.includes(one.state) ? null : resultOf(one)
  const before = useRef<typeof result>(undefined)
  useEffect(() => {
    if (result === undefined) return
    // It may be over before it is seen to be under way.
    const isDone = before.current !== undefined && result !== null && result !== before.current
    before.current = result
    if (isDone) void client.invalidateQueries()
  }, [client, result])
}

const resultOf = ({ state, applied, created, refused, undone, removed, kept }: Import) =>
  [state, applied, created, refused, undone, removed, kept].join(' ')

function applyLabel({ newUsers, changed }: Import): string {
  const created = `Create ${units(newUsers, 'user', 'users')}`
  if (newUsers === 0) return `Apply ${units(changed, 'change', 'changes')}`
  return changed === 0 ? created : `${created}, change ${number(changed)}`
}

function Bar({ one }: { one: Import }) {
  const [done, all] =
    one.state === 'READING'
      ? [one.bytesRead, one.bytesTotal]
      : one.state === 'APPLYING'
        ? [one.applied + one.created + one.refused, one.changed + one.newUsers]
        : [one.undone + one.removed + one.kept, one.applied + one.created]
  return <Progress value={all === 0 ? 0 : (done / all) * 100} aria-label="Progress" animated size="lg" />
}

function summary(one: Import): string {
  const parts = [
    `${units(one.rows, 'row', 'rows')} read`,
    ...(one.newUsers > 0 ? [units(one.newUsers, 'new user', 'new users')] : []),
    `${number(one.changed)} ${one.state === 'CHECKED' || one.state === 'READING' ? 'would change' : 'to change'}`,
    `${number(one.unchanged)} already up to date`,
    `${number(one.bad)} invalid`,
  ]
  if (one.applied > 0) parts.push(`${number(one.applied)} changed`)
  if (one.created > 0) parts.push(`${number(one.created)} created`)
  if (one.refused > 0) parts.push(`${number(one.refused)} refused`)
  if (one.undone > 0) parts.push(`${number(one.undone)} undone`)
  if (one.removed > 0) parts.push(`${number(one.removed)} removed`)
  if (one.kept > 0) parts.push(`${number(one.kept)} kept because they were changed or used later`)
  return `${parts.join(' · ')}.`
}
