import { Button, Group, List, Progress, Stack, Text, Title } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { useSearch } from '@tanstack/react-router'
import { useEffect, useRef, useState } from 'react'
import { graphql, type ResultOf } from '../api/graphql.ts'
import { useAppId, useMay } from '../api/use-account.ts'
import { useAsk, useChange } from '../api/use-api.ts'
import { Confirm } from '../ui/confirm.tsx'
import { DataTable } from '../ui/data-table.tsx'
import { Empty } from '../ui/empty.tsx'
import { FormAlert } from '../ui/form-alert.tsx'
import { AnchorLink, ButtonLink } from '../ui/links.tsx'
import { Loaded } from '../ui/loaded.tsx'
import { Note } from '../ui/note.tsx'
import { number, units } from '../ui/number.ts'
import { Page } from '../ui/page.tsx'
import { Tag, type Tone } from '../ui/tag.tsx'
import { When } from '../ui/when.tsx'
import { BulkChangeRows } from './bulk-change-rows.tsx'

const ALL = graphql(`
  query BulkChanges($appId: String!) {
    bulkChanges(appId: $appId) { id title state memberEmail createdAt rows changing done refused undone }
  }
`)
const ONE = graphql(`
  query BulkChange($appId: String!, $id: String!) {
    bulkChange(appId: $appId, id: $id) {
      id title list state undoable memberEmail createdAt rows changing done refused undone kept problem
      skipped { message count }
    }
  }
`)
const APPLY = graphql(`
  mutation ApplyBulkChange($appId: String!, $id: String!) { applyBulkChange(appId: $appId, id: $id) { id state } }
`)
const UNDO = graphql(`
  mutation UndoBulkChange($appId: String!, $id: String!) { undoBulkChange(appId: $appId, id: $id) { id state } }
`)

const STOP = graphql(`
  mutation StopBulkChange($appId: String!, $id: String!) { stopBulkChange(appId: $appId, id: $id) { id state } }
`)

type Change = NonNullable<ResultOf<typeof ONE>['bulkChange']>

const STATES: Record<Change['state'], { label: string; tone: Tone }> = {
  CHECKING: { label: 'Checking', tone: 'accent' },
  CHECKED: { label: 'Not applied yet', tone: 'warn' },
  APPLYING: { label: 'Applying', tone: 'accent' },
  APPLIED: { label: 'Applied', tone: 'good' },
  UNDOING: { label: 'Undoing', tone: 'accent' },
  UNDONE: { label: 'Undone', tone: 'plain' },
  STOPPED: { label: 'Stopped', tone: 'warn' },
  FAILED: { label: 'Failed', tone: 'bad' },
}
const isBusy = ({ state }: Pick<Change, 'state'>) => /ING$/.test(state)
const POLL_MS = 1_000

export function BulkChangePage() {
  const appId = useAppId()
  const { id } = useSearch({ from: '/inside/apps/$app/bulk' })
  return (
    <Page
      title="Bulk changes"
      about="Change many users at once. Every change is checked before you apply it."
    >
      {id === undefined ? <Changes appId={appId} /> : <OneChange key={id} appId={appId} id={id} />}
    </Page>
  )
}

function Changes({ appId }: { appId: string }) {
  const asked = useAsk(ALL, { appId })
  return (
    <Loaded of={asked}>
      {({ bulkChanges }) =>
        bulkChanges.length === 0 ? (
          <Empty
            title="No bulk changes yet"
            action={
              <ButtonLink to="/apps/$app/users" params={{ app: appId }}>
                Users
              </ButtonLink>
            }
          >
            Select rows in the list of users or subscriptions to change the plan, start trials, cancel or set
            overrides for all of them.
          </Empty>
        ) : (
          <DataTable
            label="Bulk changes"
            rows={bulkChanges}
            keyOf={({ id }) => id}
            columns={[
              {
                label: 'Change',
                cell: ({ id, title }) => (
                  <AnchorLink
                    to="/apps/$app/bulk"
                    params={{ app: appId }}
                    search={{ id }}
                    size="sm"
                    className="row-link"
                  >
                    {title}
                  </AnchorLink>
                ),
              },
              {
                label: 'Status',
                cell: ({ state }) => <Tag tone={STATES[state].tone}>{STATES[state].label}</Tag>,
              },
              { label: 'To change', right: true, cell: ({ changing }) => number(changing) },
              { label: 'Changed', right: true, cell: ({ done }) => number(done) },
              { label: 'By', wide: true, cell: ({ memberEmail }) => memberEmail },
              { label: 'Started', wide: true, cell: ({ createdAt }) => <When at={createdAt} time /> },
            ]}
          />
        )
      }
    </Loaded>
  )
}

function OneChange({ appId, id }: { appId: string; id: string }) {
  const [polls, setPolls] = useState(true)
  const asked = useAsk(ONE, { appId, id }, { refetchInterval: polls && POLL_MS })
  const one = asked.data?.bulkChange
  const busy = !one || isBusy(one)
  useEffect(() => setPolls(busy), [busy])
  useReloadWhenDone(one)
  return (
    <Loaded of={asked} whole>
      {({ bulkChange }) =>
        bulkChange && <Shown appId={appId} one={bulkChange} onBegin={() => setPolls(true)} />
      }
    </Loaded>
  )
}

/** The rows that were read while it was under way are out of date. */
function useReloadWhenDone(one: Change | null | undefined): void {
  const client = useQueryClient()
  const before = useRef<boolean | null>(null)
  useEffect(() => {
    if (!one) return
    if (before.current === true && !isBusy(one)) void client.invalidateQueries()
    before.current = isBusy(one)
  }, [client, one])
}

function Shown({ appId, one, onBegin }: { appId: string; one: Change; onBegin: () => void }) {
  const may = useMay()
  const [asking, setAsking] = useState<'apply' | 'undo' | null>(null)
  const close = () => {
    setAsking(null)
    onBegin()
  }
  const apply = useChange(APPLY, { done: close })
  const undo = useChange(UNDO, { done: close })
  const stop = useChange(STOP, { done: onBegin })
  const noun =
    one.list === 'USERS' ? (['user', 'users'] as const) : (['subscription', 'subscriptions'] as const)
  const { label, tone } = STATES[one.state]
  const left = one.changing - one.done - one.refused
  const applied = one.done - one.undone - one.kept
  const canApply = one.state === 'CHECKED' || one.state === 'STOPPED'
  const canUndo = one.undoable && (one.state === 'APPLIED' || one.state === 'STOPPED')
  return (
    <Stack gap="lg">
      <Group justify="space-between">
        <Group gap="sm">
          <Title order={2}>{one.title}</Title>
          <Tag tone={tone}>{label}</Tag>
        </Group>
        <Group gap="xs">
          <ButtonLink
            variant="default"
            to={one.list === 'USERS' ? '/apps/$app/users' : '/apps/$app/subscriptions'}
            params={{ app: appId }}
          >
            {one.list === 'USERS' ? 'Users' : 'Subscriptions'}
          </ButtonLink>
          {(one.state === 'APPLYING' || one.state === 'UNDOING') && (
            <Button
              variant="default"
              disabled={!may('stopBulkChange')}
              loading={stop.isPending}
              onClick={() => stop.mutate({ appId, id: one.id })}
            >
              Stop
            </Button>
          )}
          {canUndo && applied > 0 && (
            <Button variant="default" disabled={!may('undoBulkChange')} onClick={() => setAsking('undo')}>
              Undo {units(applied, 'change', 'changes')}
            </Button>
          )}
          {canApply && left > 0 && (
            <Button disabled={!may('applyBulkChange')} onClick={() => setAsking('apply')}>
              Apply to {units(left, ...noun)}
            </Button>
          )}
        </Group>
      </Group>
      <FormAlert error={stop.error} />
      {one.problem && (
        <Note tone="bad" role="alert">
          {one.problem}
        </Note>
      )}
      {isBusy(one) && <Bar one={one} />}
      <div aria-live="polite">
        <Text>{summary(one)}</Text>
        <List size="sm">
          {one.skipped.map(({ message, count }) => (
            <List.Item key={message}>
              {number(count)} skipped: {message}
            </List.Item>
          ))}
        </List>
      </div>
      {!isBusy(one) && one.rows > 0 && <BulkChangeRows appId={appId} one={one} />}
      <Confirm
        opened={asking === 'apply'}
        title={`${one.title}?`}
        submit={`Apply to ${units(left, ...noun)}`}
        harmless={one.undoable}
        busy={apply.isPending}
        error={apply.error}
        onConfirm={() => apply.mutate({ appId, id: one.id })}
        onClose={() => setAsking(null)}
      >
        {one.undoable
          ? 'You can undo it later. Users who have been changed since then keep their current state.'
          : 'This cannot be undone.'}
      </Confirm>
      <Confirm
        opened={asking === 'undo'}
        title={`Undo: ${one.title}?`}
        submit="Undo"
        harmless
        busy={undo.isPending}
        error={undo.error}
        onConfirm={() => undo.mutate({ appId, id: one.id })}
        onClose={() => setAsking(null)}
      >
        Users who were changed since keep their current state.
      </Confirm>
    </Stack>
  )
}

function Bar({ one }: { one: Change }) {
  const [done, of] =
    one.state === 'UNDOING' ? [one.undone + one.kept, one.done] : [one.done + one.refused, one.changing]
  // How many match is known once all are checked.
  const value = one.state === 'CHECKING' ? 100 : of === 0 ? 0 : (done / of) * 100
  return <Progress value={value} aria-label="Progress" animated size="lg" />
}

function summary(one: Change): string {
  const skipped = one.skipped.reduce((sum, { count }) => sum + count, 0)
  const parts = [
    `${number(one.rows)} checked`,
    `${number(one.changing)} ${one.state === 'CHECKED' || one.state === 'CHECKING' ? 'will change' : 'to change'}`,
    `${number(skipped)} skipped`,
  ]
  if (one.done > 0) parts.push(`${number(one.done)} changed`)
  if (one.refused > 0) parts.push(`${number(one.refused)} refused`)
  if (one.undone > 0) parts.push(`${number(one.undone)} undone`)
  if (one.kept > 0) parts.push(`${number(one.kept)} kept`)
  return `${parts.join(' · ')}.`
}
