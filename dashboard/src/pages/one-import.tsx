import { Button, Group, Progress, SegmentedControl, Stack, Text } from '@mantine/core'
import { IconDownload } from '@tabler/icons-react'
import { useQueryClient } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { useEffect, useRef, useState } from 'react'
import { graphql, type ResultOf } from '../api/graphql.ts'
import { reportUrl } from '../api/upload-users.ts'
import { useMay } from '../api/use-account.ts'
import { useAsk, useChange } from '../api/use-api.ts'
import { DataTable } from '../ui/data-table.tsx'
import { FormAlert } from '../ui/form-alert.tsx'
import { Loaded } from '../ui/loaded.tsx'
import { Note } from '../ui/note.tsx'
import { number, units } from '../ui/number.ts'
import { Pager } from '../ui/pager.tsx'
import { Name } from '../ui/sentence.tsx'
import { Tag, type Tone } from '../ui/tag.tsx'
import { ImportStateTag } from './import-state.tsx'

const IMPORT = graphql(`
  query UserImport($appId: String!, $id: String!) {
    userImport(appId: $appId, id: $id) {
      id state failure bytesTotal bytesRead rows bad unchanged changed applied refused undone kept
    }
  }
`)
const ROWS = graphql(`
  query UserImportRows($appId: String!, $id: String!, $outcome: ImportOutcome, $after: String) {
    userImportRows(appId: $appId, id: $id, outcome: $outcome, after: $after) {
      next
      rows { line user { text subject { kind appId id } } userId outcome message oldEmail newEmail oldBillingId newBillingId }
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
type Row = NonNullable<ResultOf<typeof ROWS>['userImportRows']>['rows'][number]
type Outcome = Row['outcome']

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
              disabled={!may('applyUserImport') || one.changed === 0}
              onClick={() => apply.mutate({ appId, id })}
            >
              Apply {units(one.changed, 'change', 'changes')}
            </Button>
          )}
          {one.state === 'APPLIED' && (
            <Button
              variant="default"
              loading={undo.isPending}
              disabled={!may('undoUserImport')}
              onClick={() => undo.mutate({ appId, id })}
            >
              Undo {units(one.applied, 'change', 'changes')}
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
      {!BUSY.includes(one.state) && <Rows appId={appId} one={one} />}
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

const resultOf = ({ state, applied, refused, undone, kept }: Import) =>
  [state, applied, refused, undone, kept].join(' ')

function Bar({ one }: { one: Import }) {
  const [done, all] =
    one.state === 'READING'
      ? [one.bytesRead, one.bytesTotal]
      : one.state === 'APPLYING'
        ? [one.applied + one.refused, one.changed]
        : [one.undone + one.kept, one.applied]
  return <Progress value={all === 0 ? 0 : (done / all) * 100} aria-label="Progress" animated size="lg" />
}

function summary(one: Import): string {
  const parts = [
    `${units(one.rows, 'row', 'rows')} read`,
    `${number(one.changed)} ${one.state === 'CHECKED' || one.state === 'READING' ? 'would change' : 'to change'}`,
    `${number(one.unchanged)} already up to date`,
    `${number(one.bad)} invalid`,
  ]
  if (one.applied > 0) parts.push(`${number(one.applied)} applied`)
  if (one.refused > 0) parts.push(`${number(one.refused)} refused`)
  if (one.undone > 0) parts.push(`${number(one.undone)} undone`)
  if (one.kept > 0) parts.push(`${number(one.kept)} kept, since they were changed later`)
  return `${parts.join(' · ')}.`
}

const OUTCOMES: Record<Outcome, { label: string; tone: Tone }> = {
  BAD: { label: 'invalid', tone: 'bad' },
  UNCHANGED: { label: 'unchanged', tone: 'plain' },
  CHANGE: { label: 'would change', tone: 'warn' },
  APPLIED: { label: 'applied', tone: 'good' },
  REFUSED: { label: 'refused', tone: 'bad' },
  UNDONE: { label: 'undone', tone: 'plain' },
  KEPT: { label: 'kept', tone: 'warn' },
}

function Rows({ appId, one }: { appId: string; one: Import }) {
  const { outcome, after } = useSearch({ from: '/inside/apps/$app/import' })
  const navigate = useNavigate({ from: '/apps/$app/import' })
  const chosen = outcome !== undefined && outcome in OUTCOMES ? (outcome as Outcome) : null
  const asked = useAsk(
    ROWS,
    { appId, id: one.id, outcome: chosen, after: after ?? null },
    { keepPrevious: true },
  )
  const offered: Outcome[] = ['BAD', one.state === 'CHECKED' ? 'CHANGE' : 'APPLIED', 'UNCHANGED']
  if (one.refused > 0) offered.push('REFUSED')
  if (one.state === 'UNDONE') offered.push('UNDONE', 'KEPT')
  return (
    <Stack gap="sm">
      <SegmentedControl
        w="fit-content"
        maw="100%"
        aria-label="Which rows"
        value={chosen ?? 'all'}
        onChange={(value) =>
          void navigate({ search: { id: one.id, ...(value !== 'all' && { outcome: value }) }, replace: true })
        }
        data={[
          { value: 'all', label: 'All rows' },
          ...offered.map((value) => ({ value, label: OUTCOMES[value].label })),
        ]}
      />
      <Loaded of={asked}>
        {({ userImportRows: page }) =>
          page?.rows.length === 0 ? (
            <Text c="dimmed">No rows match.</Text>
          ) : (
            <>
              <DataTable
                label="Rows of the file"
                rows={page?.rows ?? []}
                keyOf={({ line }) => String(line)}
                columns={[
                  { label: 'Line', right: true, cell: ({ line }) => number(line) },
                  {
                    label: 'User',
                    cell: ({ user, userId }) =>
                      user && (
                        <>
                          <Name {...user} />
                          {user.text !== userId && (
                            <Text size="xs" c="dimmed" ff="monospace">
                              {userId}
                            </Text>
                          )}
                        </>
                      ),
                  },
                  {
                    label: 'Outcome',
                    cell: ({ outcome, message }) => (
                      <>
                        <Tag tone={OUTCOMES[outcome].tone}>{OUTCOMES[outcome].label}</Tag>
                        {message !== null && (
                          <Text size="xs" c="dimmed" mt="xxs">
                            {message}
                          </Text>
                        )}
                      </>
                    ),
                  },
                  {
                    label: 'Email',
                    wide: true,
                    cell: (row) => <Change from={row.oldEmail} to={row.newEmail} />,
                  },
                  {
                    label: 'Billing id',
                    wide: true,
                    cell: (row) => <Change from={row.oldBillingId} to={row.newBillingId} />,
                  },
                ]}
              />
              <Pager after={after} next={page?.next} />
            </>
          )
        }
      </Loaded>
    </Stack>
  )
}

function Change({ from, to }: { from: string | null; to: string | null }) {
  if (from === to) return <>{to ?? ''}</>
  return (
    <Text size="sm" component="span">
      <Text span size="sm" c="dimmed" td="line-through">
        {from ?? 'none'}
      </Text>{' '}
      → <strong>{to ?? 'none'}</strong>
    </Text>
  )
}
